import type { ComponentType, LazyExoticComponent } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'
import { lazyWithRetry } from './lib/load-with-retry.ts'

type Page = ComponentType | LazyExoticComponent<ComponentType>

interface ProjectPage {
  path: string
  /** Its label among the tabs of a project; null: no tab. */
  tab: string | null
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
  '/account': lazyPage(() => import('./features/account/page.tsx')),
  '/instances': lazyPage(() => import('./features/instances/page.tsx')),
  '/instance': lazyPage(() => import('./features/instance/page.tsx')),
  '/instance/network': lazyPage(() => import('./features/network/page.tsx')),
  '/instance/disk': lazyPage(() => import('./features/instance/disk-page.tsx')),
  '/instance/backups': lazyPage(() => import('./features/instance/backups-page.tsx')),
  '/help': lazyPage(() => import('./features/help/page.tsx')),
  '/help/:topic': lazyPage(() => import('./features/help/topic-page.tsx')),
  '/instance/desktop': lazyPage(() => import('./features/desktop/page.tsx')),
}

/** Routes below `/projects/:slug`, in tab order. */
export const projectPages: ProjectPage[] = [
  { path: '', tab: 'Overview', page: Overview },
  { path: '/deployments', tab: 'Deployments', page: lazyPage(() => import('./features/deployments/list-page.tsx')) },
  { path: '/deployments/:id', tab: null, page: lazyPage(() => import('./features/deployments/detail-page.tsx')) },
  { path: '/previews', tab: 'Previews', page: lazyPage(() => import('./features/previews/page.tsx')) },
  { path: '/services', tab: 'Services', page: lazyPage(() => import('./features/services/page.tsx')) },
  { path: '/terminal', tab: null, page: lazyPage(() => import('./features/terminal/page.tsx')) },
  { path: '/logs', tab: 'Logs', page: lazyPage(() => import('./features/logs/page.tsx')) },
  { path: '/logs/requests', tab: null, page: lazyPage(() => import('./features/requests/page.tsx')) },
  { path: '/metrics', tab: 'Metrics', page: lazyPage(() => import('./features/metrics/page.tsx')) },
  { path: '/cache', tab: 'Cache', page: lazyPage(() => import('./features/cache/page.tsx')) },
  { path: '/environment', tab: 'Environment', page: lazyPage(() => import('./features/environment/page.tsx')) },
  { path: '/database', tab: 'Database', page: lazyPage(() => import('./features/database/page.tsx')) },
  { path: '/volumes', tab: 'Volumes', page: lazyPage(() => import('./features/volumes/page.tsx')) },
  { path: '/mail', tab: 'Mail', page: lazyPage(() => import('./features/mail/page.tsx')) },
  { path: '/domains', tab: 'Domains', page: lazyPage(() => import('./features/domains/page.tsx')) },
  { path: '/settings', tab: 'Settings', page: lazyPage(() => import('./features/settings/page.tsx')) },
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
