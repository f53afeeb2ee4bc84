import { describe, expect, test } from 'vitest'
import { isServer, isStatic, needs, usePlanOf } from './plan-of.ts'

const planOf = usePlanOf()

interface Layout {
  name: string
  files: Record<string, string>
  framework: string
  work: object
}

const angular = (options: object, builder = '@angular/build:application') =>
  JSON.stringify({ projects: { shop: { projectType: 'application', architect: { build: { builder, options } } } } })

const layouts: Layout[] = [
  {
    name: 'Next, no start script',
    files: { 'package.json': needs({ next: '16' }) },
    framework: 'nextjs',
    work: isServer('npm', 'exec', '--', 'next', 'start'),
  },
  {
    name: 'Next, start with a fixed port',
    files: { 'package.json': needs({ next: '16' }, { scripts: { start: 'next start -p 4000' } }) },
    framework: 'nextjs',
    work: isServer('npm', 'exec', '--', 'next', 'start'),
  },
  {
    name: 'Next, start script',
    files: { 'package.json': needs({ next: '16' }, { scripts: { start: 'next start' } }) },
    framework: 'nextjs',
    work: isServer('npm', 'run', 'start'),
  },
  {
    name: 'Next, own server',
    files: { 'package.json': needs({ next: '16' }, { scripts: { start: 'node server.js' } }) },
    framework: 'nextjs',
    work: isServer('node', 'server.js'),
  },
  {
    name: 'Next, standalone',
    files: { 'package.json': needs({ next: '16' }), 'next.config.mjs': "export default { output: 'standalone' }" },
    framework: 'nextjs',
    work: isServer('node', '.next/standalone/server.js'),
  },
  {
    name: 'Next, export with distDir',
    files: { 'package.json': needs({ next: '16' }), 'next.config.ts': "export default { output: 'export', distDir: './site/' }" },
    framework: 'nextjs',
    work: isStatic('site', false),
  },
  {
    name: 'Next, export in a comment only',
    files: { 'package.json': needs({ next: '16' }), 'next.config.ts': "export default {\n  // output: 'export',\n}" },
    framework: 'nextjs',
    work: { kind: 'server' },
  },
  {
    name: 'Nuxt generate',
    files: { 'package.json': needs({ nuxt: '4' }, { scripts: { build: 'nuxt generate' } }) },
    framework: 'nuxt',
    work: isStatic('.output/public', false),
  },
  {
    name: 'Nuxt generate without SSR',
    files: {
      'package.json': needs({ nuxt: '4' }, { scripts: { build: 'nuxt generate' } }),
      'nuxt.config.ts': 'export default defineNuxtConfig({ ssr: false })',
    },
    framework: 'nuxt',
    work: isStatic('.output/public', true),
  },
  {
    name: 'SvelteKit, adapter-node elsewhere',
    files: {
      'package.json': needs({ '@sveltejs/kit': '2' }),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\nexport default { kit: { adapter: adapter({ out: 'server' }) } }",
    },
    framework: 'sveltekit',
    work: isServer('node', 'server'),
  },
  {
    name: 'SvelteKit, single page',
    files: {
      'package.json': needs({ '@sveltejs/kit': '2' }),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter({ fallback: 'index.html' }) } }",
    },
    framework: 'sveltekit',
    work: isStatic('build', true),
  },
  {
    name: 'SvelteKit, 404 page',
    files: {
      'package.json': needs({ '@sveltejs/kit': '2' }),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter({ fallback: '404.html' }) } }",
    },
    framework: 'sveltekit',
    work: isStatic('build', false),
  },
  {
    name: 'Astro with outDir',
    files: { 'package.json': needs({ astro: '5' }), 'astro.config.mjs': "export default defineConfig({ outDir: './public_html' })" },
    framework: 'astro',
    work: isStatic('public_html', false),
  },
  {
    name: 'React Router, single page',
    files: { 'package.json': needs({ '@react-router/dev': '7' }), 'react-router.config.ts': 'export default { ssr: false }' },
    framework: 'react-router',
    work: isStatic('build/client', true),
  },
  {
    name: 'React Router, no start script',
    files: { 'package.json': needs({ '@react-router/dev': '7' }) },
    framework: 'react-router',
    work: isServer('npm', 'exec', '--', 'react-router-serve', './build/server/index.js'),
  },
  {
    name: 'NestJS, start:prod before start',
    files: { 'package.json': needs({ '@nestjs/core': '11' }, { scripts: { start: 'nest start', 'start:prod': 'node dist/main' } }) },
    framework: 'nestjs',
    work: isServer('node', 'dist/main'),
  },
  { name: 'NestJS, no script', files: { 'package.json': needs({ '@nestjs/core': '11' }) }, framework: 'nestjs', work: isServer('node', 'dist/main') },
  ...(['express', 'fastify', 'koa', 'hono'] as const).map((name) => ({
    name: `${name}, a file that listens`,
    files: { 'package.json': needs({ [name]: '1' }), 'src/index.js': 'app.listen(process.env.PORT)' },
    framework: name,
    work: isServer('node', 'src/index.js'),
  })),
  {
    name: 'Procfile',
    files: { 'package.json': needs({ express: '5' }, { scripts: { start: 'node a.js' } }), Procfile: 'web: node b.js --port $PORT\n' },
    framework: 'express',
    work: isServer('sh', '-c', 'exec node b.js --port $PORT'),
  },
  {
    name: 'Express beside Vite whose start is a development server',
    files: { 'package.json': needs({ express: '5', vite: '8', react: '19' }, { scripts: { start: 'vite' } }) },
    framework: 'vite',
    work: isStatic('dist', true),
  },
  {
    name: 'Vite, root and outDir',
    files: { 'package.json': needs({ vite: '8' }), 'vite.config.ts': "export default { root: 'src', build: { outDir: '../public' } }" },
    framework: 'vite',
    work: isStatic('public', true),
  },
  {
    name: 'Vite, several pages',
    files: {
      'package.json': needs({ vite: '8' }),
      'vite.config.ts': "export default { build: { rollupOptions: { input: ['index.html', 'about.html'] } } }",
    },
    framework: 'vite',
    work: isStatic('dist', false),
  },
  {
    name: 'Vite, --outDir',
    files: { 'package.json': needs({ vite: '8' }, { scripts: { build: 'vite build --outDir=web' } }) },
    framework: 'vite',
    work: isStatic('web', true),
  },
  {
    name: 'Angular, application builder',
    files: { 'package.json': needs({ '@angular/core': '20' }), 'angular.json': angular({}) },
    framework: 'angular',
    work: isStatic('dist/shop/browser', true),
  },
  {
    name: 'Angular, browser builder',
    files: {
      'package.json': needs({ '@angular/core': '16' }),
      'angular.json': angular({ outputPath: 'dist/web' }, '@angular-devkit/build-angular:browser'),
    },
    framework: 'angular',
    work: isStatic('dist/web', true),
  },
  {
    name: 'Angular, output in one folder',
    files: { 'package.json': needs({ '@angular/core': '20' }), 'angular.json': angular({ outputPath: { base: 'out', browser: '' } }) },
    framework: 'angular',
    work: isStatic('out', true),
  },
  {
    name: 'Angular, server',
    files: { 'package.json': needs({ '@angular/core': '20' }), 'angular.json': angular({ outputMode: 'server', ssr: { entry: 'src/server.ts' } }) },
    framework: 'angular',
    work: isServer('node', 'dist/shop/server/server.mjs'),
  },
  {
    name: 'Create React App, BUILD_PATH',
    files: { 'package.json': needs({ 'react-scripts': '5' }, { scripts: { build: 'BUILD_PATH=web react-scripts build' } }) },
    framework: 'create-react-app',
    work: isStatic('web', true),
  },
  {
    name: 'VitePress in docs',
    files: { 'package.json': needs({ vitepress: '1' }, { scripts: { 'docs:build': 'vitepress build docs' } }) },
    framework: 'vitepress',
    work: { ...isStatic('docs/.vitepress/dist', false), build_command: 'npm run docs:build' },
  },
  {
    name: 'Eleventy with an output of its own',
    files: { 'package.json': needs({ '@11ty/eleventy': '3' }, { scripts: { build: 'eleventy --output=site' } }) },
    framework: 'eleventy',
    work: isStatic('site', false),
  },
  {
    name: 'plain pages in public',
    files: { 'public/index.html': '<h1>' },
    framework: 'html',
    work: { ...isStatic('public', false), package_manager: null },
  },
  {
    name: 'Dockerfile beats package.json',
    files: { Dockerfile: 'FROM node:24\nEXPOSE 8080/tcp\n', 'package.json': needs({ next: '16' }) },
    framework: 'dockerfile',
    work: { kind: 'dockerfile', dockerfile: 'Dockerfile', port: 8080 },
  },
  {
    name: 'Dockerfile without a port in its last stage',
    files: { Dockerfile: 'FROM node:24 AS build\nEXPOSE 1\nFROM nginx\n' },
    framework: 'dockerfile',
    work: { kind: 'dockerfile', port: null },
  },
]

describe('layouts', () => {
  test.for(layouts)('$name', async ({ files, framework, work }) => {
    const plan = await planOf(files)
    expect(plan).toMatchObject({ framework, work })
    expect(plan.explanation[0], 'names the file that it comes from').toMatch(/package\.json|index\.html|Dockerfile/)
  })
})

describe('installing', () => {
  const install = [
    ['npm', { 'package-lock.json': '{}' }, { name: 'npm', version: null }, 'npm ci --include=dev', 'package-lock.json'],
    ['no lock', {}, { name: 'npm', version: null }, 'npm install --include=dev', 'no lock file'],
    ['Bun', { 'bun.lock': '{}' }, { name: 'npm', version: null }, 'npm install --include=dev', 'bun.lock'],
    [
      'pnpm 8',
      { 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" },
      { name: 'pnpm', version: '8' },
      'pnpm install --frozen-lockfile --prod=false',
      'pnpm-lock.yaml',
    ],
    [
      'pnpm 10',
      { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
      { name: 'pnpm', version: '10' },
      'pnpm install --frozen-lockfile --prod=false',
      'pnpm-lock.yaml',
    ],
    [
      'yarn classic',
      { 'yarn.lock': '# yarn lockfile v1\n' },
      { name: 'yarn', version: '1.22.22' },
      'yarn install --frozen-lockfile --production=false --non-interactive',
      'yarn.lock',
    ],
    [
      'yarn berry',
      { 'yarn.lock': '__metadata:\n  version: 8\n' },
      { name: 'yarn', version: '4' },
      'YARN_NODE_LINKER=node-modules yarn install --immutable',
      'node_modules instead',
    ],
    [
      'yarn berry, node_modules',
      { 'yarn.lock': '__metadata:\n', '.yarnrc.yml': 'nodeLinker: node-modules\n' },
      { name: 'yarn', version: '4' },
      'yarn install --immutable',
      'yarn.lock',
    ],
    [
      'packageManager',
      { 'yarn.lock': '__metadata:\n', 'package.json': needs({ koa: '3' }, { main: 'a.js', packageManager: 'yarn@4.9.1+sha224.abc' }) },
      { name: 'yarn', version: '4.9.1' },
      'YARN_NODE_LINKER=node-modules yarn install --immutable',
      'packageManager',
    ],
  ] as const
  test.for(install)('%s', async ([, files, package_manager, install_command, why]) => {
    const plan = await planOf({ 'package.json': needs({ koa: '3' }, { main: 'a.js' }), 'a.js': '', ...files })
    expect(plan.work).toMatchObject({ package_manager, install_command })
    expect(plan.explanation.join('\n')).toContain(why)
  })

  test('a member of a pnpm workspace installs at the root, after its workspace dependencies are built', async () => {
    const plan = await planOf(
      {
        'package.json': '{"private":true}',
        'pnpm-workspace.yaml': 'packages:\n  - "apps/*"\n  - "packages/*"\n  - "!packages/old"\n',
        'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
        'packages/ui/package.json': '{"name":"ui","scripts":{"build":"tsc"}}',
        'packages/old/package.json': '{"name":"old","scripts":{"build":"tsc"}}',
        'apps/web/package.json': needs({ vite: '8', ui: 'workspace:*', old: '1' }, { scripts: { build: 'vite build' } }),
      },
      { root_directory: 'apps/web/' },
    )
    expect(plan.work).toMatchObject({
      install_directory: '.',
      app_directory: 'apps/web',
      build_command: '(cd ../../packages/ui && pnpm run build) && pnpm run build',
      output_directory: 'apps/web/dist',
    })
  })

  test('a folder outside the workspace patterns installs by itself', async () => {
    const files = {
      'package.json': '{"private":true,"workspaces":["packages/*"]}',
      'yarn.lock': '# yarn lockfile v1\n',
      'site/package.json': needs({ vite: '8' }),
    }
    expect((await planOf(files, { root_directory: 'site' })).work).toMatchObject({ install_directory: 'site', package_manager: { name: 'npm' } })
  })

  test('an install script that can read any file makes the whole source an install input', async () => {
    const plan = await planOf({ 'package.json': needs({ koa: '3' }, { main: 'a.js', scripts: { postinstall: 'node setup.js' } }), 'a.js': '' })
    expect(plan.work).toMatchObject({ install_inputs: ['.'] })
    expect(plan.explanation.join('\n')).toContain('postinstall')
  })

  test('a file: dependency makes the whole source an install input', async () => {
    const plan = await planOf({ 'package.json': needs({ own: 'file:./own' }, { main: 'a.js' }), 'a.js': '', 'own/package.json': '{"name":"own"}' })
    expect(plan.work).toMatchObject({ install_inputs: ['.'] })
  })
})

describe('sources that cannot be built', () => {
  test.for([
    ['a folder above the source', { 'index.html': '' }, { root_directory: '../other' }, 'is outside of the source', 'inside the repository'],
    ['an app in a subfolder', { 'apps/web/package.json': '{}' }, {}, 'no package.json', 'apps/web'],
    [
      'an adapter of another platform',
      { 'package.json': needs({ '@sveltejs/kit': '2' }), 'svelte.config.js': "import a from '@sveltejs/adapter-vercel'" },
      {},
      'another platform',
      '@sveltejs/adapter-node',
    ],
    [
      'a workspace with several apps',
      {
        'package.json': '{"private":true,"workspaces":["apps/*","packages/*"],"scripts":{"build":"turbo run build"},"devDependencies":{"turbo":"2"}}',
        'apps/api/package.json': needs({ fastify: '5' }, { scripts: { start: 'node server.js' } }),
        'apps/web/package.json': needs({ next: '16' }),
        'packages/ui/package.json': needs({ react: '19' }),
      },
      {},
      'Apps found: apps/api, apps/web.',
      'root_directory',
    ],
    [
      'a package.json above apps that are not a workspace',
      { 'package.json': '{"private":true}', 'front/package.json': '{}', 'back/package.json': '{}' },
      {},
      'Apps found: back, front.',
      'for example back',
    ],
    ['packages but no start script', { 'package.json': needs({ lodash: '4' }) }, {}, 'has no start script', 'start script'],
    ['a package.json of 65 MiB', { 'package.json': `{"name":"${'x'.repeat(65 * 1024 * 1024)}"}` }, {}, 'no package.json', 'root_directory'],
    ['broken YAML', { 'package.json': '{}', 'pnpm-workspace.yaml': 'packages: [' }, {}, 'not valid YAML', 'Fix the file'],
  ] as const)('%s', async ([, files, settings, message, hint]) => {
    await expect(planOf(files, settings)).rejects.toMatchObject({
      code: 'detect_failed',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    })
  })
})
