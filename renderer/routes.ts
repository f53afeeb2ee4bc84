import type { ComponentType, LazyExoticComponent } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'
import { lazyPart } from './ui/load-part.ts'

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
  '/domains': lazyPart(later.everyDomain),
  '/account': lazyPart(later.account),
  '/instances': lazyPart(later.instances),
  '/instance': lazyPart(later.instance),
  '/instance/network': lazyPart(later.network),
  '/instance/disk': lazyPart(later.disk),
  '/instance/backups': lazyPart(later.backups),
  '/help': lazyPart(later.help),
  '/help/:topic': lazyPart(later.helpTopic),
  '/instance/desktop': lazyPart(later.desktop),
}

/** Below `/projects/:slug`, in the order of the tabs. */
export const projectPages: { path: string; tab: string | null; page: ProjectPage }[] = [
  { path: '', tab: 'Overview', page: Overview },
  { path: '/deployments', tab: 'Deployments', page: lazyPart(later.deployments) },
  { path: '/deployments/:id', tab: null, page: lazyPart(later.deployment) },
  { path: '/previews', tab: 'Previews', page: lazyPart(later.previews) },
  { path: '/logs', tab: 'Logs', page: lazyPart(later.logs) },
  { path: '/metrics', tab: 'Metrics', page: lazyPart(later.metrics) },
  { path: '/cache', tab: 'Cache', page: lazyPart(later.cache) },
  { path: '/environment', tab: 'Environment', page: lazyPart(later.environment) },
  { path: '/database', tab: 'Database', page: lazyPart(later.database) },
  { path: '/domains', tab: 'Domains', page: lazyPart(later.domains) },
  { path: '/settings', tab: 'Settings', page: lazyPart(later.settings) },
]

/** Outside of the frame, as a document of its own. */
export const CardPage = lazyPart(later.card)
export const Palette = lazyPart(later.palette)
export const NewProject = lazyPart(later.newProject)
export const KeyboardSheet = lazyPart(later.keyboard)

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
