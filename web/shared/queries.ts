import {
  MutationCache,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiError, ask } from './api.ts';

/** Key of the user in the cache. */
export const ME: readonly string[] = ['me'];

/** The cache of answers. A refusal for want of a session leads back to the sign-in. */
export function createQueries(): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof ApiError && error.status === 401) setSession(client, null);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // Lost connections and an ending service are tried again; refusals are not.
        retry: (count, error) =>
          count < 3 && (!(error instanceof ApiError) || [0, 502, 503, 504].includes(error.status)),
        staleTime: 1_000,
      },
    },
  });
  return client;
}

/** The answer of a path of the API, whose parts are its key in the cache. */
export function useAnswer<Answer>(path: string): UseQueryResult<Answer> {
  return useQuery({ queryKey: path.slice(1).split('/'), queryFn: () => ask<Answer>(path) });
}

/** A change, after which all lists and objects are read again. */
export function useChange<Given = void, Answer = unknown>(
  change: (given: Given) => Promise<Answer>,
  onSuccess?: (answer: Answer) => void,
): UseMutationResult<Answer, Error, Given> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer) => {
      onSuccess?.(answer);
      return client.invalidateQueries();
    },
  });
}

/** Begins or ends a session: answers of another one are forgotten. */
export function setSession(client: QueryClient, me: object | null): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
  client.setQueryData(ME, me);
}
