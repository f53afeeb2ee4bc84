/**
 * What an API token may do, each including the ones before. `read`: states, logs and figures, but no values of variables, credentials or data of apps.
 * `deploy`: change what runs. `admin`: everything that its user may do.
 */
export const tokenScopes = ['read', 'deploy', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

export const includesScope = (held: TokenScope, required: TokenScope): boolean => tokenScopes.indexOf(held) >= tokenScopes.indexOf(required)
