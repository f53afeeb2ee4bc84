/** Endings that are set aside for use at home: nobody on the internet can own a name under them (RFC 6761, RFC 8375, and ICANN's `.internal`). */
export const localSuffixes = ['test', 'internal', 'home.arpa'] as const

/** Whether a name lies under one of them. */
export const hasLocalSuffix = (name: string): boolean => localSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
