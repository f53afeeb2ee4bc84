const localSuffix = '.localhost'

/** `SLUG.localhost` as `SLUG.apps.example.com`, for an apps domain `apps.example.com`. Other names, and all names without an apps domain, stay. */
export const toPublicName = (host: string, appsDomain: string | null): string =>
  appsDomain !== null && host.endsWith(localSuffix) ? `${host.slice(0, -localSuffix.length)}.${appsDomain}` : host

/** The opposite. */
export const toLocalName = (host: string, appsDomain: string | null): string =>
  isBelow(host, appsDomain) ? `${host.slice(0, -appsDomain.length - 1)}${localSuffix}` : host

/** Whether a name is below the apps domain, at any depth. */
export const isBelow = (host: string, appsDomain: string | null): appsDomain is string =>
  appsDomain !== null && host.endsWith(appsDomain) && host.charAt(host.length - appsDomain.length - 1) === '.'
