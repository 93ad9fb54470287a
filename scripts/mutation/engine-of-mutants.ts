import { createOwnEngine, NO_OWN_ENGINE } from '../../test/fixtures/own-engine.ts';
import { dockerImage } from '../../test/fixtures/docker-image.ts';
import { imageName } from '../../src/sandboxes/docker/build/image.ts';

/** An engine that a mutant may damage. */
export interface EngineOfMutants extends AsyncDisposable {
  readonly socket: string;
  /** Removes all containers, and brings the images back if they are gone. */
  renew(): Promise<void>;
}

/** Starts an engine with the image of the sandboxes and its base, copied from the engine of the machine; undefined if this machine cannot start one. */
export async function startEngineOfMutants(): Promise<EngineOfMutants | undefined> {
  if (NO_OWN_ENGINE !== undefined) return undefined;
  const { engine: source, bundle } = await dockerImage();
  // The image, and the bases for tests that build one.
  const bases = await source.listImages({ filters: { reference: ['skillcell-base'] } });
  const names = [imageName('slim', bundle.digest), ...bases.flatMap(({ RepoTags }) => RepoTags ?? [])];
  const own = await createOwnEngine();
  const renew = async (): Promise<void> => {
    const containers = await own.client.listContainers({ all: true });
    for (const { Id } of containers) await own.client.getContainer(Id).remove({ force: true });
    for (const name of names) {
      const images = await own.client.listImages({ filters: { reference: [name] } });
      if (images.length === 0) await own.takeImage(source, name);
    }
  };
  await renew();
  return { socket: own.socket, renew, [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
}
