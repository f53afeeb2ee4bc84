import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { Overview } from './features/project/overview.tsx'
import { ProjectsPage } from './features/projects/page.tsx'

type Page = ComponentType | LazyExoticComponent<ComponentType>
type ProjectPage = ComponentType<{ slug: string }> | LazyExoticComponent<ComponentType<{ slug: string }>>

/** Every address of the dashboard, below `/app`. The first screens come at once, the rest when asked for. */
export const pages: Record<string, Page> = {
  '/': ProjectsPage,
  '/projects': ProjectsPage,
  '/instance': lazy(() => import('./features/instance/page.tsx')),
}

/** Below `/projects/:slug`, in the order of the tabs. */
export const projectPages: { path: string; tab: string | null; page: ProjectPage }[] = [
  { path: '', tab: 'Overview', page: Overview },
  { path: '/deployments', tab: 'Deployments', page: lazy(() => import('./features/deployments/list-page.tsx')) },
  { path: '/deployments/:id', tab: null, page: lazy(() => import('./features/deployments/detail-page.tsx')) },
  { path: '/logs', tab: 'Logs', page: lazy(() => import('./features/logs/page.tsx')) },
  { path: '/settings', tab: 'Settings', page: lazy(() => import('./features/settings/page.tsx')) },
]

export const base = '/app'
