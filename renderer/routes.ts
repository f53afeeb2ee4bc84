import type { ComponentType, LazyExoticComponent } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'
import { lazyWithRetry } from './lib/load-with-retry.ts'

type Page = ComponentType | LazyExoticComponent<ComponentType>
type ProjectPage = ComponentType<{ slug: string }> | LazyExoticComponent<ComponentType<{ slug: string }>>

/** Pages that are not part of the first bundle. */
const lazyImports = {
  deployments: () => import('./features/deployments/list-page.tsx'),
  deployment: () => import('./features/deployments/detail-page.tsx'),
  previews: () => import('./features/previews/page.tsx'),
  logs: () => import('./features/logs/page.tsx'),
  metrics: () => import('./features/metrics/page.tsx'),
  cache: () => import('./features/cache/page.tsx'),
  environment: () => import('./features/environment/page.tsx'),
  database: () => import('./features/database/page.tsx'),
  domains: () => import('./features/domains/page.tsx'),
  everyDomain: () => import('./features/domains/all-domains-page.tsx'),
  settings: () => import('./features/settings/page.tsx'),
  account: () => import('./features/account/page.tsx'),
  instance: () => import('./features/instance/page.tsx'),
  network: () => import('./features/network/page.tsx'),
  disk: () => import('./features/instance/disk-page.tsx'),
  backups: () => import('./features/instance/backups-page.tsx'),
  desktop: () => import('./features/desktop/page.tsx'),
  card: () => import('./features/account/card-page.tsx'),
  palette: () => import('./features/command-palette/command-palette.tsx'),
  newProject: () => import('./features/projects/new-project.tsx'),
  samples: () => import('./features/projects/sample-picker.tsx'),
  tour: () => import('./features/tour/tour-card.tsx'),
  help: () => import('./features/help/page.tsx'),
  helpTopic: () => import('./features/help/topic-page.tsx'),
  keyboard: () => import('./features/keyboard/shortcuts-dialog.tsx'),
  instances: () => import('./features/instances/page.tsx'),
}

/** All routes of the dashboard, below `/app`, or below `/app/on/{id}` for a remote instance. */
export const pages: Record<string, Page> = {
  '/': ProjectsPage,
  '/projects': ProjectsPage,
  '/domains': lazyWithRetry(lazyImports.everyDomain),
  '/account': lazyWithRetry(lazyImports.account),
  '/instances': lazyWithRetry(lazyImports.instances),
  '/instance': lazyWithRetry(lazyImports.instance),
  '/instance/network': lazyWithRetry(lazyImports.network),
  '/instance/disk': lazyWithRetry(lazyImports.disk),
  '/instance/backups': lazyWithRetry(lazyImports.backups),
  '/help': lazyWithRetry(lazyImports.help),
  '/help/:topic': lazyWithRetry(lazyImports.helpTopic),
  '/instance/desktop': lazyWithRetry(lazyImports.desktop),
}

/** Routes below `/projects/:slug`, in tab order. */
export const projectPages: { path: string; tab: string | null; page: ProjectPage }[] = [
  { path: '', tab: 'Overview', page: Overview },
  { path: '/deployments', tab: 'Deployments', page: lazyWithRetry(lazyImports.deployments) },
  { path: '/deployments/:id', tab: null, page: lazyWithRetry(lazyImports.deployment) },
  { path: '/previews', tab: 'Previews', page: lazyWithRetry(lazyImports.previews) },
  { path: '/logs', tab: 'Logs', page: lazyWithRetry(lazyImports.logs) },
  { path: '/metrics', tab: 'Metrics', page: lazyWithRetry(lazyImports.metrics) },
  { path: '/cache', tab: 'Cache', page: lazyWithRetry(lazyImports.cache) },
  { path: '/environment', tab: 'Environment', page: lazyWithRetry(lazyImports.environment) },
  { path: '/database', tab: 'Database', page: lazyWithRetry(lazyImports.database) },
  { path: '/domains', tab: 'Domains', page: lazyWithRetry(lazyImports.domains) },
  { path: '/settings', tab: 'Settings', page: lazyWithRetry(lazyImports.settings) },
]

/** Outside of the layout, as a separate document. */
export const CardPage = lazyWithRetry(lazyImports.card)
export const Palette = lazyWithRetry(lazyImports.palette)
export const NewProject = lazyWithRetry(lazyImports.newProject)
export const KeyboardSheet = lazyWithRetry(lazyImports.keyboard)

/** Preloads the other pages when idle, so that the next page and the palette open without delay. Skipped in data-saving mode. */
export function prefetchPages(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  const prefetch = () => {
    for (const load of Object.values(lazyImports)) load().catch(() => undefined)
  }
  // Safari has no requestIdleCallback, so a delay of one second is used.
  if ('requestIdleCallback' in window) window.requestIdleCallback(prefetch, { timeout: 3_000 })
  else setTimeout(prefetch, 1_000)
}
