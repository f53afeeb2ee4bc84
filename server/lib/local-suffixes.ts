/** Suffixes reserved for local use, which cannot be registered (RFC 6761, RFC 8375, and ICANN's `.internal`). */
export const localSuffixes = ['test', 'internal', 'home.arpa'] as const

/** Whether a name has one of these suffixes. */
export const hasLocalSuffix = (name: string): boolean => localSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
