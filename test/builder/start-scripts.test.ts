import { expect, test } from 'vitest'
import { isServer, isStatic, needs, usePlanOf } from './plan-of.ts'

const planOf = usePlanOf()

test.for([
  ...['bun run src/index.ts', 'bun src/index.ts', 'bun run serve:prod'].map((start) => ({
    name: `start script “${start}”`,
    files: { 'package.json': needs({ lodash: '4' }, { scripts: { start } }) },
    framework: 'bun',
    work: { kind: 'toolchain', start_command: 'exec bun run start' },
  })),
  ...['serve -s dist', 'npx serve dist'].map((start) => ({
    name: `start script “${start}”`,
    files: { 'package.json': needs({ lodash: '4' }, { scripts: { start } }) },
    framework: 'node',
    work: isServer('npm', 'run', 'start'),
  })),
  ...['bun --watch src/index.ts', 'bun run --hot src/index.ts', 'bun run dev', 'bun dev'].map((start) => ({
    name: `development script “${start}” beside a file that listens`,
    files: { 'package.json': needs({ express: '5' }, { scripts: { start } }), 'server.js': 'app.listen(process.env.PORT)' },
    framework: 'express',
    work: isServer('node', 'server.js'),
  })),
  ...(
    [
      ['tanstack-start', '@tanstack/react-start', 'dist/client'],
      ['solidstart', '@solidjs/start', '.output/public'],
      ['qwik', '@builder.io/qwik-city', 'dist'],
      ['nitro', 'nitropack', '.output/public'],
    ] as const
  ).map(([framework, dependency, output]) => ({
    name: `${framework}, a server or a site by its output`,
    files: { 'package.json': needs({ vite: '8', [dependency]: '1' }, { scripts: { dev: 'vite', build: 'vite build', start: 'vite --open' } }) },
    framework,
    work: { ...isStatic(output, false), server_entries: expect.arrayContaining(['.output/server/index.mjs', 'server/entry.express.js']) as unknown },
  })),
  {
    name: 'solidstart whose start script starts what the build left',
    files: { 'package.json': needs({ vinxi: '0.5', '@solidjs/start': '1' }, { scripts: { build: 'vinxi build', start: 'vinxi start' } }) },
    framework: 'solidstart',
    work: isStatic('.output/public', false),
  },
  {
    name: 'tanstack-start with a server of its own',
    files: { 'package.json': needs({ vite: '8', '@tanstack/react-start': '1' }, { scripts: { build: 'vite build', start: 'node server.js' } }) },
    framework: 'tanstack-start',
    work: isServer('node', 'server.js'),
  },
  {
    name: 'Vite whose start script serves its output',
    files: { 'package.json': needs({ vite: '8' }, { scripts: { build: 'vite build', start: 'serve -s dist' } }) },
    framework: 'vite',
    work: isStatic('dist', true),
  },
  {
    name: 'webpack whose start script serves its output',
    files: { 'package.json': needs({ webpack: '5' }, { scripts: { build: 'webpack', start: 'npx serve -s dist' } }) },
    framework: 'webpack',
    work: isStatic('dist', true),
  },
])('$name', async ({ files, framework, work }) => {
  const plan = await planOf(files, {}, { builds_dockerfiles: false })
  expect(plan).toMatchObject({ framework, work })
  expect(plan.explanation[0], 'names the file that it comes from').toContain('package.json')
})
