/** Finds a place that lies within another: whoever changes the outer one would change both. */
export function nestedPlace(places: ReadonlySet<string>): string | undefined {
  for (const place of places)
    for (let end = place.lastIndexOf('/'); end > 0; end = place.lastIndexOf('/', end - 1))
      if (places.has(place.slice(0, end))) return place;
  return undefined;
}
