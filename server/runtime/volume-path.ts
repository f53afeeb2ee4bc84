/** The segments of a path in a volume; empty for the volume itself. Throws for a path that could leave it, which the contract has already refused. */
export function splitVolumePath(path: string): string[] {
  const segments = path === '' ? [] : path.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || segment.includes('\0')))
    throw new Error('The path leaves its volume.')
  return segments
}
