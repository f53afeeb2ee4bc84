import { join } from 'node:path'
import type { BuildSettings } from '../../server/contract/build-plan.ts'

/** One real project of a kind, and what it must be like once it is deployed. */
export interface TestApp {
  name: string
  /** Absolute path of the project (of the repository, when `settings` name a root_directory). */
  directory: string
  settings?: Partial<BuildSettings>
  expects: {
    framework: string
    kind: 'server' | 'static' | 'dockerfile'
    path: string
    /** A part of the body of a 200 answer to `path`. */
    contains: string
    /** An unknown path gets index.html with 200 (a single-page app); otherwise a static site answers 404. */
    spa_fallback?: boolean
  }
}

const app = (name: string, expects: TestApp['expects'], more: { directory?: string; settings?: Partial<BuildSettings> } = {}): TestApp => ({
  name,
  directory: join(import.meta.dirname, more.directory ?? name),
  ...(more.settings ? { settings: more.settings } : {}),
  expects,
})

export const apps: TestApp[] = [
  app('html', { framework: 'html', kind: 'static', path: '/about/', contains: 'About this site', spa_fallback: false }),
  app('node', { framework: 'node', kind: 'server', path: '/x', contains: 'from plain Node' }),
  app('express', { framework: 'express', kind: 'server', path: '/', contains: 'Welcome to Express' }),
  app('vite-react', { framework: 'vite', kind: 'static', path: '/about', contains: '<div id="root">', spa_fallback: true }),
  app('dockerfile', { framework: 'dockerfile', kind: 'dockerfile', path: '/', contains: 'Hello from a Dockerfile' }),
  app('nextjs', { framework: 'nextjs', kind: 'server', path: '/', contains: 'Rendered by Next.js' }),
  app('nextjs-export', { framework: 'nextjs', kind: 'static', path: '/about/', contains: 'About the exported site', spa_fallback: false }),
  app('nuxt', { framework: 'nuxt', kind: 'server', path: '/', contains: 'Welcome to Nuxt' }),
  app('sveltekit', { framework: 'sveltekit', kind: 'server', path: '/api/hello', contains: 'from SvelteKit' }),
  app('sveltekit-node', { framework: 'sveltekit', kind: 'server', path: '/', contains: 'Welcome to SvelteKit' }),
  app('sveltekit-static', { framework: 'sveltekit', kind: 'static', path: '/', contains: 'Welcome to SvelteKit', spa_fallback: false }),
  app('astro', { framework: 'astro', kind: 'static', path: '/about/', contains: 'About this site', spa_fallback: false }),
  app('astro-node', { framework: 'astro', kind: 'server', path: '/api/hello', contains: 'from Astro' }),
  app('remix', { framework: 'remix', kind: 'server', path: '/', contains: 'Welcome to Remix' }),
  app('react-router', { framework: 'react-router', kind: 'server', path: '/', contains: 'Welcome to React Router' }),
  app('react-router-spa', { framework: 'react-router', kind: 'static', path: '/any/path', contains: 'React Router on Homeport', spa_fallback: true }),
  app('nestjs', { framework: 'nestjs', kind: 'server', path: '/', contains: 'Hello World!' }),
  app('fastify', { framework: 'fastify', kind: 'server', path: '/example', contains: 'this is an example' }),
  app('koa', { framework: 'koa', kind: 'server', path: '/', contains: 'Hello from Koa' }),
  app('hono', { framework: 'hono', kind: 'server', path: '/json', contains: 'from Hono' }),
  app('vite-vue', { framework: 'vite', kind: 'static', path: '/', contains: '<div id="app">', spa_fallback: true }),
  app('vite-svelte', { framework: 'vite', kind: 'static', path: '/', contains: '<div id="app">', spa_fallback: true }),
  app('vite-solid', { framework: 'vite', kind: 'static', path: '/', contains: '<div id="root">', spa_fallback: true }),
  app('angular', { framework: 'angular', kind: 'static', path: '/any/path', contains: '<app-root>', spa_fallback: true }),
  app('create-react-app', { framework: 'create-react-app', kind: 'static', path: '/any/path', contains: '<div id="root">', spa_fallback: true }),
  app('docusaurus', { framework: 'docusaurus', kind: 'static', path: '/more/', contains: 'Another page.', spa_fallback: false }),
  app('vitepress', { framework: 'vitepress', kind: 'static', path: '/guide', contains: 'Another page.', spa_fallback: false }),
  app('eleventy', { framework: 'eleventy', kind: 'static', path: '/about/', contains: 'About this site', spa_fallback: false }),
  app('pnpm-workspace', { framework: 'fastify', kind: 'server', path: '/', contains: 'Hello pnpm, from a package of the workspace' }, { settings: { root_directory: 'apps/api' } }),
  app('npm-workspaces-server', { framework: 'koa', kind: 'server', path: '/', contains: 'Hello from npm workspaces' }, { directory: 'npm-workspaces', settings: { root_directory: 'apps/server' } }),
  app('npm-workspaces-site', { framework: 'vite', kind: 'static', path: '/', contains: 'Site of npm workspaces', spa_fallback: true }, { directory: 'npm-workspaces', settings: { root_directory: 'apps/site' } }),
  app('tanstack-start', { framework: 'tanstack-start', kind: 'static', path: '/', contains: 'Hello from TanStack Start', spa_fallback: false }),
  app('nitro', { framework: 'nitro', kind: 'static', path: '/', contains: 'Hello from Nitro', spa_fallback: false }),
  app('solidstart', { framework: 'solidstart', kind: 'static', path: '/', contains: 'Hello from SolidStart', spa_fallback: false }),
  app('qwik', { framework: 'qwik', kind: 'static', path: '/', contains: 'Hello from Qwik', spa_fallback: false }),
]
