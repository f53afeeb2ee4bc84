/** Major versions of PostgreSQL that databases of an instance have, in order. New databases get the last one; the others keep theirs. */
export const postgresVersions = [15, 18] as const

export type PostgresVersion = (typeof postgresVersions)[number]

export const currentPostgresVersion = 18 satisfies PostgresVersion
