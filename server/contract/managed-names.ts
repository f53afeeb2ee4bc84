/** What homeport.yaml lists under `managed`: the project's PostgreSQL database, the presets, and the mail catcher. */
export const managedNames = ['postgres', 'redis', 'mariadb', 's3', 'mail'] as const
export type ManagedName = (typeof managedNames)[number]
