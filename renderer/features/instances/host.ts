/** Display form of an origin: `deploy.example.com`, with a custom port; the scheme only if it is not HTTPS. */
export function hostLabel(origin: string): string {
  return URL.parse(origin)?.host ?? origin
}
