import { Anchor, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { Artifact } from '../../src/contracts/jobs/result.ts';
import { apiPath, send } from '../shared/api.ts';
import { CodeView, languageOf } from '../shared/code-view.tsx';
import { bytesText, textOf } from '../shared/format.ts';
import { Loaded, Note, Nothing, Part } from '../shared/view.tsx';

/** Larger ones are downloaded only. */
const SHOWN_BYTES: number = 2 * 1024 * 1024;
/** These can hold scripts or refer to other places: a frame without an origin shows them. */
const IN_FRAME = /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|(?:text|application)\/xml)\b/;
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)\b/;

/** The files that a job has written. Their bytes can be read when the job has ended. */
export function ArtifactsPart(props: { id: string; artifacts: Artifact[]; isFinished: boolean }): ReactElement | null {
  const { id, artifacts, isFinished } = props;
  const [shown, setShown] = useState<string | null>(null);
  if (artifacts.length === 0) return null;
  return (
    <Part title="Artifacts">
      {artifacts.map((artifact) => {
        const { path, bytes, mediaType, description = '' } = artifact;
        const isShown = shown === path;
        const word = isShown ? 'Hide' : 'Show';
        const toggle = (): void => setShown(isShown ? null : path);
        return (
          <Stack key={path} gap={4}>
            <Group gap="xs">
              {isFinished ? <Anchor href={addressOf(id, path)} download className="breaking" children={path} /> : path}
              <Note>{`${bytesText(bytes)}, ${mediaType} ${description}`}</Note>
              {isFinished && bytes <= SHOWN_BYTES && (
                <Button size="compact-sm" aria-label={`${word} ${path}`} onClick={toggle} children={word} />
              )}
            </Group>
            {isShown && <ShownArtifact id={id} artifact={artifact} />}
          </Stack>
        );
      })}
    </Part>
  );
}

function ShownArtifact({ id, artifact }: { id: string; artifact: Artifact }): ReactElement {
  const { path, mediaType } = artifact;
  const address = addressOf(id, path);
  if (IN_FRAME.test(mediaType)) {
    // The answer has a policy without scripts and without an origin as well.
    return <iframe className="artifact" sandbox="" src={address} title={path} referrerPolicy="no-referrer" />;
  }
  if (PICTURE.test(mediaType)) return <img src={address} alt={path} style={{ maxWidth: '100%' }} />;
  return <ArtifactText id={id} path={path} />;
}

function ArtifactText({ id, path }: { id: string; path: string }): ReactElement {
  const text = useQuery({
    queryKey: ['artifacts', id, path],
    queryFn: async () => textOf(new Uint8Array(await (await send(addressOf(id, path))).arrayBuffer())),
  });
  return (
    <Loaded query={text}>
      {(loaded) =>
        loaded === null ? (
          <Nothing>The file is no text.</Nothing>
        ) : (
          <CodeView code={loaded} language={languageOf(path)} label={path} />
        )
      }
    </Loaded>
  );
}

function addressOf(id: string, path: string): string {
  const parts = path.split('/').map(encodeURIComponent).join('/');
  return apiPath(`/jobs/${encodeURIComponent(id)}/artifacts/${parts}`);
}
