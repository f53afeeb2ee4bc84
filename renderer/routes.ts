import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'

type Page = ComponentType | LazyExoticComponent<ComponentType>
type ProjectPage = ComponentType<{ slug: string }> | LazyExoticComponent<ComponentType<{ slug: string }>>

/** What the first screen does without. */
const later = {
  deployments: () => import('./features/deployments/list-page.tsx'),
  deployment: () => import('./features/deployments/detail-page.tsx'),
  previews: () => import('./features/previews/page.tsx'),
  logs: () => import('./features/logs/page.tsx'),
  metrics: () => import('./features/metrics/page.tsx'),
  cache: () => import('./features/cache/page.tsx'),
  environment: () => import('./features/environment/page.tsx'),
  database: () => import('./features/database/page.tsx'),
  domains: () => import('./features/domains/page.tsx'),
  everyDomain: () => import('./features/domains/every-page.tsx'),
  settings: () => import('./features/settings/page.tsx'),
  account: () => import('./features/account/page.tsx'),
  instance: () => import('./features/instance/page.tsx'),
  network: () => import('./features/network/page.tsx'),
  disk: () => import('./features/instance/disk-page.tsx'),
  backups: () => import('./features/instance/backups-page.tsx'),
  desktop: () => import('./features/desktop/page.tsx'),
  card: () => import('./features/account/card-page.tsx'),
  palette: () => import('./features/palette/palette.tsx'),
  newProject: () => import('./features/projects/new-project.tsx'),
  samples: () => import('./features/samples/shelf.tsx'),
  tour: () => import('./features/tour/card.tsx'),
  help: () => import('./features/help/page.tsx'),
  helpTopic: () => import('./features/help/topic-page.tsx'),
  keyboard: () => import('./features/keyboard/sheet.tsx'),
  instances: () => import('./features/instances/page.tsx'),
}

/** Every address of the dashboard, below `/app`, or below `/app/on/{id}` for another instance. */
export const pages: Record<string, Page> = {
  '/': ProjectsPage,
  '/projects': ProjectsPage,
  '/domains': lazy(later.everyDomain),
  '/account': lazy(later.account),
  '/instances': lazy(later.instances),
  '/instance': lazy(later.instance),
  '/instance/network': lazy(later.network),
  '/instance/disk': lazy(later.disk),
  '/instance/backups': lazy(later.backups),
  '/help': lazy(later.help),
  '/help/:topic': lazy(later.helpTopic),
  '/instance/desktop': lazy(later.desktop),
}

/** Below `/projects/:slug`, in the order of the tabs. */
export const projectPages: { path: string; tab: string | null; page: ProjectPage }[] = [
  { path: '', tab: 'Overview', page: Overview },
  { path: '/deployments', tab: 'Deployments', page: lazy(later.deployments) },
  { path: '/deployments/:id', tab: null, page: lazy(later.deployment) },
  { path: '/previews', tab: 'Previews', page: lazy(later.previews) },
  { path: '/logs', tab: 'Logs', page: lazy(later.logs) },
  { path: '/metrics', tab: 'Metrics', page: lazy(later.metrics) },
  { path: '/cache', tab: 'Cache', page: lazy(later.cache) },
  { path: '/environment', tab: 'Environment', page: lazy(later.environment) },
  { path: '/database', tab: 'Database', page: lazy(later.database) },
  { path: '/domains', tab: 'Domains', page: lazy(later.domains) },
  { path: '/settings', tab: 'Settings', page: lazy(later.settings) },
]

/** Outside of the frame, as a document of its own. */
export const CardPage = lazy(later.card)
export const Palette = lazy(later.palette)
export const NewProject = lazy(later.newProject)
export const KeyboardSheet = lazy(later.keyboard)

/** Brings the rest while nobody waits, so that the next screen, and the first key in the palette, find it there; not to who saves data. */
export function bringTheRest(): void {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  if (connection?.saveData) return
  const bring = () => {
    for (const load of Object.values(later)) load().catch(() => undefined)
  }
  // Safari has no idle callback; a second after the first screen is as good.
  if ('requestIdleCallback' in window) window.requestIdleCallback(bring, { timeout: 3_000 })
  else setTimeout(bring, 1_000)
}
