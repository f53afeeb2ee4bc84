/** What log drains can be. Without zod, for the dashboard. */
export const logDrainKinds = ['http', 'syslog', 'file'] as const
export const logDrainSources = ['app', 'build', 'request'] as const
export const logDrainEnvironments = ['all', 'production', 'previews'] as const
export const logDrainFormats = ['ndjson', 'json'] as const
