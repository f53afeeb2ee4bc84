/** An origin as people say it: `deploy.example.com`, with the port where it has one; the scheme only where it is in the clear. */
export function hostLabel(origin: string): string {
  return URL.parse(origin)?.host ?? origin
}
