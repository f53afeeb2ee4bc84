import type { TestCase } from './case.ts'

/** The package.json of the Koa app with something more; its lock file still fits. */
export const koaPackage = (more: Record<string, unknown>): string =>
  JSON.stringify({
    private: true,
    type: 'module',
    name: 'homeport-test-koa',
    version: '1.0.0',
    dependencies: { koa: '^3.3.0' },
    main: 'index.js',
    engines: { node: '>=22' },
    ...more,
  })

/** A Koa app that answers with the value of an expression and listens as it is told. */
export const koaServer = (answer: string, listen = 'process.env.PORT', before = ''): string =>
  `import Koa from 'koa'\n${before}\nconst app = new Koa()\napp.use((context) => {\n  context.body = ${answer}\n})\napp.listen(${listen})\n`

const dockerfile = (...lines: string[]): string =>
  ['FROM node:24-bookworm-slim', 'WORKDIR /app', 'COPY package*.json ./', 'RUN npm ci', 'COPY . .', ...lines, 'CMD ["node", "index.js"]', ''].join(
    '\n',
  )

/** Must be found where nothing else listens. */
const fixedPort = 18_473

/** Projects with one thing about them that must work. */
export const liveCases: readonly TestCase[] = [
  {
    name: 'postinstall-script',
    base: 'koa',
    files: {
      'package.json': koaPackage({ scripts: { postinstall: 'node scripts/generate.js' } }),
      'scripts/generate.js':
        "import { readFileSync, writeFileSync } from 'node:fs'\nwriteFileSync('words.txt', readFileSync('words.in', 'utf8').toUpperCase())\n",
      'words.in': 'written by postinstall',
      'index.js': koaServer('words', undefined, "import { readFileSync } from 'node:fs'\nconst words = readFileSync('words.txt', 'utf8')"),
    },
    answers: [{ path: '/', contains: 'WRITTEN BY POSTINSTALL' }],
  },
  {
    name: 'prepare-script',
    base: 'koa',
    files: {
      'package.json': koaPackage({ scripts: { prepare: 'node scripts/prepare.js' } }),
      'scripts/prepare.js': "import { cpSync } from 'node:fs'\ncpSync('src/words.js', 'words.js')\n",
      'src/words.js': "export const words = 'copied by prepare'\n",
      'index.js': koaServer('words', undefined, "import { words } from './words.js'"),
    },
    answers: [{ path: '/', contains: 'copied by prepare' }],
  },
  {
    name: 'file-dependency',
    base: 'koa',
    files: {
      'package-lock.json': null,
      'package.json': koaPackage({ dependencies: { koa: '^3.3.0', greeting: 'file:./packages/greeting' } }),
      'packages/greeting/package.json': JSON.stringify({ name: 'greeting', version: '1.0.0', type: 'module', main: 'index.js' }),
      'packages/greeting/index.js': "export default 'Hello from a file: dependency'\n",
      'index.js': koaServer('greeting', undefined, "import greeting from 'greeting'"),
    },
    answers: [{ path: '/', contains: 'Hello from a file: dependency' }],
  },
  {
    name: 'fixed-port',
    base: 'koa',
    files: { 'index.js': koaServer("'Hello from a fixed port'", String(fixedPort)) },
    logs: `Warning: the app listens on port ${fixedPort}, not on `,
    answers: [{ path: '/', contains: 'Hello from a fixed port' }],
  },
  {
    name: 'dockerfile-expose',
    base: 'koa',
    runtimes: ['docker'],
    files: { 'index.js': koaServer("'Hello from the port of EXPOSE'", '5173'), Dockerfile: dockerfile('EXPOSE 5173') },
    logs: 'It exposes port 5173',
    answers: [{ path: '/', contains: 'Hello from the port of EXPOSE' }],
  },
  {
    name: 'dockerfile-healthcheck',
    base: 'koa',
    runtimes: ['docker'],
    files: {
      // Well when it is asked for the third time; GET / would have done at once.
      'index.js': koaServer(
        "context.path === '/well' ? String(++checks >= 3 ? (context.status = 200) : (context.status = 503)) : checks >= 3 ? 'Well' : 'Asked too early'",
        undefined,
        'let checks = 0',
      ),
      Dockerfile: dockerfile(
        'HEALTHCHECK --interval=1s CMD node -e "fetch(\'http://127.0.0.1:\' + process.env.PORT + \'/well\').then((r) => process.exit(r.ok ? 0 : 1))"',
      ),
    },
    answers: [{ path: '/', contains: 'Well' }],
  },
  {
    name: 'bun-start',
    files: {
      'package.json': JSON.stringify({ name: 'bun-app', private: true, scripts: { start: 'bun run server.ts' }, dependencies: { bun: '1.4.5' } }),
      'server.ts': "Bun.serve({ port: process.env.PORT, hostname: process.env.HOST, fetch: () => new Response('Hello from Bun') })\n",
    },
    answers: [{ path: '/', contains: 'Hello from Bun' }],
  },
  {
    name: 'serve-start',
    files: {
      'package.json': JSON.stringify({
        name: 'serve-app',
        private: true,
        scripts: { build: 'node build.js', start: 'serve -s dist' },
        dependencies: { serve: '14.2.7' },
      }),
      'build.js': "const fs = require('node:fs')\nfs.mkdirSync('dist')\nfs.writeFileSync('dist/index.html', '<h1>Served by serve</h1>')\n",
    },
    answers: [
      { path: '/', contains: 'Served by serve' },
      { path: '/any/path', contains: 'Served by serve' },
    ],
  },
  {
    name: 'redirects-and-headers',
    base: 'vite-react',
    files: {
      'public/_redirects': '/old/* /new/:splat 301\n/api/*  /index.html  200\n',
      'public/_headers': '/*\n  X-Frame-Options: DENY\n/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n',
    },
    answers: [
      { path: '/', contains: '<div id="root">', headers: { 'x-frame-options': 'DENY' } },
      { path: '/old/page', status: 301, headers: { location: '/new/page' } },
      { path: '/_redirects', contains: '<div id="root">' },
      { path: '/_headers', contains: '<div id="root">' },
    ],
  },
  {
    name: 'submodule',
    base: 'koa',
    files: { 'index.js': koaServer('words', undefined, "import { words } from './packages/words/index.js'") },
    submodules: { 'packages/words': { 'index.js': "export const words = 'Hello from a submodule'\n" } },
    logs: 'Fetching the submodule packages/words',
    answers: [{ path: '/', contains: 'Hello from a submodule' }],
  },
  {
    name: 'large-file',
    base: 'html',
    files: {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      // What Git LFS commits in the place of a file; its content is on no server.
      'film.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 12345\n`,
    },
    logs: 'Warning: one file is a Git LFS pointer instead of file content: film.bin.',
    answers: [{ path: '/about/', contains: 'About this site' }],
  },
  {
    name: 'bundle-of-esbuild',
    files: {
      'package.json': JSON.stringify({
        name: 'bundle',
        private: true,
        scripts: { build: 'esbuild src/main.js --bundle --minify --outfile=dist/main.js && cp src/index.html dist/' },
        devDependencies: { esbuild: '^0.25.0' },
      }),
      'src/main.js': "document.body.append('Bundled')\n",
      'src/index.html': '<!doctype html><title>Bundle</title><body><script src="main.js"></script>',
    },
    answers: [{ path: '/', contains: 'main.js' }],
  },
  {
    name: 'procfile',
    base: 'koa',
    files: { Procfile: 'web: node index.js --from-procfile\n', 'index.js': koaServer('process.argv[2]') },
    answers: [{ path: '/', contains: '--from-procfile' }],
  },
  {
    name: 'near-node-version',
    base: 'koa',
    runtimes: ['docker'],
    files: { '.nvmrc': '22.11.99\n', 'index.js': koaServer('process.version') },
    logs: 'node:22.11.99-bookworm-slim could not be pulled; using node:22-bookworm-slim from this machine instead.',
    answers: [{ path: '/', contains: 'v22.' }],
  },
]
