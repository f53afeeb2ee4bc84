import type { ComponentType, LazyExoticComponent } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'
import { lazyWithRetry } from './lib/load-with-retry.ts'

type Page = ComponentType | LazyExoticComponent<ComponentType>

/** The tabs of a project. Each opens its first page. */
export const projectTabs = ['Overview', 'Deployments', 'Logs', 'Metrics', 'Storage', 'Settings'] as const

interface ProjectPage {
  path: string
  tab: (typeof projectTabs)[number]
  /** Its label among the pages of its tab; null: only other pages link to it. */
  label: string | null
  page: ComponentType<{ slug: string }> | LazyExoticComponent<ComponentType<{ slug: string }>>
}

/** Loads code that is not part of the first bundle, for `prefetchPages`. */
const deferredImports: (() => Promise<unknown>)[] = [
  () => import('./features/projects/sample-picker.tsx'),
  () => import('./features/tour/tour-card.tsx'),
]

/** A page or dialog that is not part of the first bundle. */
function lazyPage<Props>(load: () => Promise<{ default: ComponentType<Props> }>) {
  deferredImports.push(load)
  return lazyWithRetry(load)
}

/** All routes of the dashboard, below `/app`, or below `/app/on/{id}` for a remote instance. */
export const pages: Record<string, Page> = {
  '/': ProjectsPage,
  '/projects': ProjectsPage,
  '/domains': lazyPage(() => import('./features/domains/all-domains-page.tsx')),
  '/logs': lazyPage(() => import('./features/log-search/page.tsx')),
  '/activity': lazyPage(() => import('./features/activity/page.tsx')),
  '/account': lazyPage(() => import('./features/account/page.tsx')),
  '/account/notifications': lazyPage(() => import('./features/notification-targets/account-page.tsx')),
  '/instances': lazyPage(() => import('./features/instances/page.tsx')),
  '/instance': lazyPage(() => import('./features/instance/page.tsx')),
  '/instance/settings': lazyPage(() => import('./features/instance/settings-page.tsx')),
  '/instance/network': lazyPage(() => import('./features/network/page.tsx')),
  '/instance/nodes': lazyPage(() => import('./features/nodes/page.tsx')),
  '/instance/disk': lazyPage(() => import('./features/instance/disk-page.tsx')),
  '/instance/backups': lazyPage(() => import('./features/instance/backups-page.tsx')),
  '/help': lazyPage(() => import('./features/help/page.tsx')),
  '/help/:topic': lazyPage(() => import('./features/help/topic-page.tsx')),
  '/instance/desktop': lazyPage(() => import('./features/desktop/page.tsx')),
}

/** Routes below `/projects/:slug`, in the order of tabs and of the pages within a tab. */
export const projectPages: ProjectPage[] = [
  { path: '', tab: 'Overview', label: 'Summary', page: Overview },
  { path: '/services', tab: 'Overview', label: 'Services', page: lazyPage(() => import('./features/services/page.tsx')) },
  { path: '/activity', tab: 'Overview', label: 'Activity', page: lazyPage(() => import('./features/activity/project-page.tsx')) },
  { path: '/terminal', tab: 'Overview', label: null, page: lazyPage(() => import('./features/terminal/page.tsx')) },
  { path: '/deployments', tab: 'Deployments', label: 'All deployments', page: lazyPage(() => import('./features/deployments/list-page.tsx')) },
  { path: '/deployments/:id', tab: 'Deployments', label: null, page: lazyPage(() => import('./features/deployments/detail-page.tsx')) },
  { path: '/previews', tab: 'Deployments', label: 'Previews', page: lazyPage(() => import('./features/previews/page.tsx')) },
  { path: '/logs', tab: 'Logs', label: 'Output', page: lazyPage(() => import('./features/logs/page.tsx')) },
  { path: '/logs/requests', tab: 'Logs', label: 'Requests', page: lazyPage(() => import('./features/requests/page.tsx')) },
  { path: '/logs/traces', tab: 'Logs', label: 'Traces', page: lazyPage(() => import('./features/traces/list-page.tsx')) },
  { path: '/logs/traces/:id', tab: 'Logs', label: null, page: lazyPage(() => import('./features/traces/trace-page.tsx')) },
  { path: '/mail', tab: 'Logs', label: 'Mail', page: lazyPage(() => import('./features/mail/page.tsx')) },
  { path: '/metrics', tab: 'Metrics', label: 'Metrics', page: lazyPage(() => import('./features/metrics/page.tsx')) },
  { path: '/database', tab: 'Storage', label: 'Database', page: lazyPage(() => import('./features/database/page.tsx')) },
  { path: '/database/tables', tab: 'Storage', label: 'Tables', page: lazyPage(() => import('./features/database-browser/tables-page.tsx')) },
  { path: '/database/sql', tab: 'Storage', label: 'SQL', page: lazyPage(() => import('./features/database-browser/sql-page.tsx')) },
  { path: '/volumes', tab: 'Storage', label: 'Volumes', page: lazyPage(() => import('./features/volumes/page.tsx')) },
  { path: '/settings', tab: 'Settings', label: 'General', page: lazyPage(() => import('./features/settings/page.tsx')) },
  { path: '/environment', tab: 'Settings', label: 'Environment', page: lazyPage(() => import('./features/environment/page.tsx')) },
  { path: '/domains', tab: 'Settings', label: 'Domains', page: lazyPage(() => import('./features/domains/page.tsx')) },
  { path: '/notifications', tab: 'Settings', label: 'Notifications', page: lazyPage(() => import('./features/notification-targets/page.tsx')) },
  { path: '/log-drains', tab: 'Settings', label: 'Log drains', page: lazyPage(() => import('./features/log-drains/page.tsx')) },
  { path: '/cache', tab: 'Settings', label: 'Cache', page: lazyPage(() => import('./features/cache/page.tsx')) },
]

/** Outside of the layout, as a separate document. */
export const CardPage = lazyPage(() => import('./features/account/card-page.tsx'))
export const Palette = lazyPage(() => import('./features/command-palette/command-palette.tsx'))
export const NewProject = lazyPage(() => import('./features/projects/new-project.tsx'))
export const KeyboardSheet = lazyPage(() => import('./features/keyboard/shortcuts-dialog.tsx'))

/** Preloads the other pages when idle, so that the next page and the palette open without delay. Skipped in data-saving mode. */
export function prefetchPages(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  const prefetch = () => {
    for (const load of deferredImports) load().catch(() => undefined)
  }
  // Safari has no requestIdleCallback, so a delay of one second is used.
  if ('requestIdleCallback' in window) window.requestIdleCallback(prefetch, { timeout: 3_000 })
  else setTimeout(prefetch, 1_000)
}
