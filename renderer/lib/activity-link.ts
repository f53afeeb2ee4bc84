import type { ActivityEntry } from '../../server/contract/activity.ts'

/** The page that shows what an entry is about, below the instance's part of the dashboard; null if there is none. */
export function activityPath({ action, project, target }: ActivityEntry): string | null {
  const [noun] = action.split('.')
  if (project === null || action === 'project.deleted') return null
  const base = `/projects/${project.slug}`
  if (noun === 'deployment' && target?.id?.startsWith('dpl_')) return `${base}/deployments/${target.id}`
  if (action === 'project.crashed') return `${base}/logs`
  const page = noun === undefined ? undefined : pagesByNoun[noun]
  return `${base}${page ?? ''}`
}

const pagesByNoun: Partial<Record<string, string>> = {
  preview: '/previews',
  fork: '/previews',
  env_vars: '/environment',
  domain: '/domains',
  cache: '/cache',
  purge_token: '/cache',
  database: '/database',
  database_dump: '/database',
  volume: '/volumes',
  service: '/services',
  managed_service: '/services',
  registry: '/settings',
  mail: '/mail',
}

export const hasFailed = ({ action }: Pick<ActivityEntry, 'action'>): boolean => /\.(?:failed|crashed)$/.test(action)

/** The code of a failure in words: `build_failed` as “Build failed”. */
export const failureText = (code: string): string => `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`
