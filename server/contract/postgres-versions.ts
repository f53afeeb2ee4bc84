/** The supported major versions of PostgreSQL, in order. New databases get the last one; existing ones keep theirs. */
export const postgresVersions = [15, 18] as const

export type PostgresVersion = (typeof postgresVersions)[number]

export const currentPostgresVersion = 18 satisfies PostgresVersion
