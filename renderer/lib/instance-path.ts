/** Base path of the dashboard. */
export const basePath = '/app'

/** Id of the instance that served this page. */
export const localInstanceId = 'local'

/** Base path of an instance's pages. It is part of the URL, so that reload, history and links keep the instance. */
export function instanceBasePath(id: string): string {
  return id === localInstanceId ? basePath : `${basePath}/on/${encodeURIComponent(id)}`
}

/** The instance that a path belongs to. */
export function instanceIdFromPath(pathname: string): string {
  const [, id] = /^\/app\/on\/([^/]+)/.exec(pathname) ?? []
  return id === undefined ? localInstanceId : decodeOrKeep(id)
}

/** Rejects paths with `..`: names from an instance must not lead out of its part of the dashboard. */
export function isSafePath(path: string): boolean {
  const [pathname = ''] = path.split(/[?#]/, 1)
  return !/\/\/|\\|(^|\/)(\.|%2e){1,2}(\/|$)|[\t\n\r]/i.test(pathname)
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Display form of an origin: `deploy.example.com`, with a custom port; the scheme only if it is not HTTPS. */
export function hostLabel(origin: string): string {
  return URL.parse(origin)?.host ?? origin
}
