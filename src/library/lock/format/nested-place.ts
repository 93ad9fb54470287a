/** Finds a place inside another one: a change of the outer folder would change both skills. */
export function nestedPlace(places: ReadonlySet<string>): string | undefined {
  for (const place of places)
    for (let end = place.lastIndexOf('/'); end > 0; end = place.lastIndexOf('/', end - 1))
      if (places.has(place.slice(0, end))) return place;
  return undefined;
}
