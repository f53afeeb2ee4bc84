import type { TestCase } from './case.ts'
import { koaPackage, koaServer } from './live-cases.ts'

/** Projects that must fail, with what their user reads. */
export const failingCases: readonly TestCase[] = [
  {
    name: 'unrecognised-failure',
    base: 'koa',
    files: { 'package.json': koaPackage({ scripts: { build: 'echo step 1 ok && echo step 2 ok && exit 3' } }) },
    fails: { message: '`npm run build` ended with exit code 3 after N s.', hint: 'Run the same command in a fresh checkout on your machine to reproduce the error. Last output:\n> homeport-test-koa@1.0.0 build\n> echo step 1 ok && echo step 2 ok && exit 3\nstep 1 ok\nstep 2 ok' },
  },
  {
    name: 'ends-at-start',
    base: 'koa',
    files: { 'index.js': "console.log('All work is done.')\nprocess.exitCode = 4\n" },
    fails: { message: 'The app, `node index.js`, exited during startup with exit code 4 after N s.', hint: 'A web app must keep running. Check its start command. Last output:\nAll work is done.' },
  },
  {
    name: 'no-index-html',
    base: 'vite-react',
    files: {
      'vite.config.ts':
        "import { defineConfig } from 'vite'\nexport default defineConfig({ build: { lib: { entry: 'src/App.tsx', formats: ['es'], fileName: 'library' } } })\n",
    },
    fails: { message: 'The folder dist has no index.html, so / would return 404. Files found: library.js.', hint: 'Check the build command and its output folder. An app with its own server needs a start script in package.json.' },
  },
  { name: 'unknown-node-version', base: 'koa', runtimes: ['process'], files: { '.nvmrc': '22.11.99\n' }, fails: { message: 'Node 22.11.99 does not exist in the npm registry, or requires signing in.', hint: 'Check the name and the version. The nearest version available is 22.11.0.' } },
  { name: 'unknown-node-image', base: 'koa', runtimes: ['docker'], files: { '.nvmrc': '99\n' }, fails: {
      docker: [
        {
          message: 'The base image node:99-bookworm-slim for Node 99 is not on this machine, and the Docker registry could not be reached (no such host).',
          hint: 'Check the network and the proxy, then deploy again. The nearest version on this machine is 24: set the Node version to it.',
        },
        {
          message: 'The base image node:99-bookworm-slim for Node 99 does not exist in the Docker registry, or requires signing in.',
          hint: 'Check the name and the version. The nearest version on this machine is 24: set the Node version to it.',
        },
      ],
    } },
  {
    name: 'unknown-base-image',
    base: 'koa',
    runtimes: ['docker'],
    files: { Dockerfile: '# The app\nFROM node:99-bookworm-slim\nCOPY . .\nCMD ["node", "index.js"]\n' },
    fails: {
      docker: [
        {
          message: 'Dockerfile, line 2: the base image node:99-bookworm-slim is not on this machine, and its registry could not be reached (no such host).',
          hint: 'Check the network and the proxy, then deploy again. This machine has node:24-bookworm-slim.',
        },
        {
          message: 'Dockerfile, line 2: the base image node:99-bookworm-slim does not exist in its registry, or requires signing in.',
          hint: 'Check the name and the version. This machine has node:24-bookworm-slim.',
        },
      ],
    },
  },
  {
    name: 'dockerfile-step-fails',
    base: 'koa',
    runtimes: ['docker'],
    files: { Dockerfile: 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY . .\n\nRUN echo building && \\\n    exit 6\nCMD ["node", "index.js"]\n' },
    fails: { message: 'Dockerfile, line 5: the step ended with exit code 6.', hint: 'Fix that step. Last output:\nbuilding' },
  },
  {
    name: 'dockerfile-unknown-instruction',
    base: 'koa',
    runtimes: ['docker'],
    files: { Dockerfile: 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPPY . .\nCMD ["node", "index.js"]\n' },
    fails: { message: 'Dockerfile, line 3: unknown instruction: COPPY.', hint: 'Fix the Dockerfile. Run `docker build` on your machine to reproduce the error.' },
  },
  {
    name: 'dockerfile-missing-file',
    base: 'koa',
    runtimes: ['docker'],
    files: { Dockerfile: 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY package.json yarn.lock ./\nCMD ["node", "index.js"]\n' },
    fails: { message: 'Dockerfile, line 3: yarn.lock is not in the source, or .dockerignore excludes it.', hint: 'Fix the path, or commit the file.' },
  },
  { name: 'dockerfile-without-docker', base: 'dockerfile', runtimes: ['process'], fails: { message: 'This project builds from a Dockerfile, but Docker is not available.', hint: 'Install and start Docker, then deploy again. To use framework detection instead, remove the Dockerfile.' } },
  {
    name: 'tool-missing',
    base: 'koa',
    files: { 'package.json': koaPackage({ scripts: { start: 'lerna run serve' } }) },
    fails: { message: 'The app, `npm run start`, exited during startup with exit code 127 after N s. lerna is not installed (log: “sh: 1: lerna: not found”).', hint: 'Add it to package.json: a package manager in packageManager, a tool in devDependencies. Then update the lock file and commit both.' },
  },
  { name: 'monorepo-without-root', base: 'npm-workspaces', fails: { message: 'This repository contains several apps, and root_directory is not set. Apps found: apps/server, apps/site.', hint: 'Set root_directory to the app’s folder, for example apps/server. Create one project per app.' } },
  { name: 'package-json-array', base: 'koa', files: { 'package.json': '["koa"]' }, fails: { message: 'package.json is not a JSON object.', hint: 'A package.json starts with { and lists the app’s packages and scripts. Fix the file, then deploy again.' } },
  { name: 'package-json-broken', base: 'koa', files: { 'package.json': '{ "name": "koa", }' }, fails: { message: 'package.json is not valid JSON: Expected double-quoted property name in JSON at position 17 (line 1 column 18).', hint: 'Fix the file, then deploy again.' } },
  {
    name: 'peer-conflict',
    base: 'koa',
    files: {
      'package-lock.json': null,
      'package.json': koaPackage({ dependencies: { koa: '^3.3.0', react: '19.1.0', 'react-helmet-async': '1.3.0' } }),
    },
    fails: { message: '`npm install --include=dev` ended with exit code 1 after N s. Two packages require incompatible versions of the same dependency (ERESOLVE) (log: “npm error ERESOLVE unable to resolve dependency tree”).', hint: 'Update the packages that npm lists. If the app works anyway, set the project’s install command to npm install --legacy-peer-deps.' },
    advice: { settings: { install_command: 'npm install --legacy-peer-deps' } },
    answers: [{ path: '/', contains: 'Hello from Koa' }],
  },
  {
    name: 'database-url-missing',
    files: {
      'package.json': JSON.stringify({ name: 'guests', private: true, type: 'module', scripts: { start: 'node index.js' }, dependencies: { pg: '8.23.1' } }),
      'index.js': `import { createServer } from 'node:http'
import pg from 'pg'

if (!process.env.DATABASE_URL) throw new Error('DATABASE_URL is not set')
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
createServer(async (request, response) => {
  const { rows } = await pool.query('SELECT 6 * 7 AS answer')
  response.end('The database says ' + rows[0].answer)
}).listen(process.env.PORT)
`,
    },
    fails: { message: 'The app, `node index.js`, exited during startup with exit code 1 after N s. A variable is missing: DATABASE_URL (log: “Error: DATABASE_URL is not set”).', hint: 'Create a database with homeport db create PROJECT, or add DATABASE_URL to the project’s variables, then deploy again.' },
    advice: { database: true },
    answers: [{ path: '/', contains: 'The database says 42' }],
  },
  {
    name: 'lock-out-of-date',
    base: 'koa',
    files: { 'package.json': koaPackage({ dependencies: { koa: '^3.3.0', ms: '2.1.3' } }) },
    fails: { message: '`npm ci --include=dev` ended with exit code 1 after N s. package-lock.json does not match package.json (log: “npm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.”).', hint: 'Run npm install, commit package-lock.json, and deploy again.' },
  },
  {
    name: 'unknown-version',
    base: 'koa',
    files: { 'package-lock.json': null, 'package.json': koaPackage({ dependencies: { koa: '99.99.99' } }) },
    fails: { message: '`npm install --include=dev` ended with exit code 1 after N s. This package version does not exist: koa@99.99.99 (log: “npm error notarget No matching version found for koa@99.99.99.”).', hint: 'Fix the version in package.json, regenerate the lock file and commit it.' },
  },
  { name: 'module-missing', base: 'koa', files: { 'index.js': "import cors from '@koa/cors'\nconsole.log(cors)\n" }, fails: { message: "The app, `node index.js`, exited during startup with exit code 1 after N s. Node cannot find “@koa/cors” (log: “Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@koa/cors' imported from /app/index.js”).", hint: 'For a package, add it to dependencies in package.json and commit the lock file. For a built file, check that the build command writes it to this path.' } },
  {
    name: 'type-error',
    base: 'vite-react',
    files: { 'src/App.tsx': 'export default function App() {\n  const count: number = "one"\n  return <p>{count}</p>\n}\n' },
    fails: { message: "`npm run build` ended with exit code 1 after N s. TypeScript error in src/App.tsx, line 2: Type 'string' is not assignable to type 'number'. (TS2322) (log: “src/App.tsx(2,9): error TS2322: Type 'string' is not assignable to type 'number'.”).", hint: 'Fix the error. Run tsc on your machine to reproduce it.' },
  },
  {
    name: 'import-unresolved',
    base: 'vite-react',
    files: { 'src/main.tsx': "import './no-such-file.css'\n" },
    settings: { build_command: 'vite build' },
    fails: { message: "`vite build` ended with exit code 1 after N s. The import “./no-such-file.css” in src/main.tsx could not be resolved (log: “[UNRESOLVED_IMPORT] Could not resolve './no-such-file.css' in src/main.tsx”).", hint: 'For a package, install it and commit the lock file. For a file, check its path, including upper and lower case.' },
  },
  {
    name: 'loopback-alone',
    base: 'koa',
    runtimes: ['docker'],
    files: { 'index.js': koaServer("'Nobody reads this'", "process.env.PORT, '127.0.0.1'") },
    fails: {
      message: 'The app only listens on 127.0.0.1 (port 8080), which cannot be reached from outside its container.',
      hint: 'Make the app listen on 0.0.0.0, the address in the HOST variable, and on the port in the PORT variable (8080).',
    },
  },
  { name: 'root-directory-missing', base: 'koa', settings: { root_directory: 'apps/web' }, fails: { message: 'The source has no folder “apps/web”.', hint: 'Fix root_directory in the project settings. Links that leave the repository are not followed.' } },
]
