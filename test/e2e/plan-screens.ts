import type { Page } from '@playwright/test'
import type { PlannedSource } from '../../server/contract/source-plans.ts'
import type { Watching } from '../../server/contract/previews.ts'
import type { Screen } from './screen.ts'
import { openNewProject } from './screen-actions.ts'

const empty: PlannedSource = {
  file: null,
  root_directory: '.',
  services: [],
  builds: [],
  managed: [],
  facts: [],
  missing_variables: [],
  notes: [],
  problems: [],
  apps: [],
  homeport_yaml: '# homeport.yaml\n',
  commit: { branch: 'main', sha: '3f9c2a71d0b84e5f9c2a71d0b84e5f9c2a71d0b8', message: 'Add the shop' },
}

const shop: PlannedSource = {
  ...empty,
  file: 'compose.yaml',
  services: [
    {
      name: 'web',
      kind: 'web',
      is_main: true,
      is_public: true,
      build: 0,
      depends_on: ['db', 'cache'],
      volumes: ['uploads'],
      facts: [
        { name: 'port', value: '3000', origin: 'compose.yaml line 5' },
        { name: 'health_check', value: 'GET /healthz', origin: 'project setting' },
        { name: 'volume', value: 'uploads: /app/uploads', origin: 'compose.yaml line 8' },
      ],
    },
    {
      name: 'mailer',
      kind: 'worker',
      is_main: false,
      is_public: false,
      build: 0,
      depends_on: ['cache'],
      volumes: [],
      facts: [{ name: 'start_command', value: 'node mailer.js', origin: 'compose.yaml line 14' }],
    },
    {
      name: 'nightly',
      kind: 'cron',
      is_main: false,
      is_public: false,
      build: 0,
      depends_on: ['db'],
      volumes: [],
      facts: [{ name: 'schedule', value: '0 3 * * *, UTC', origin: 'compose.yaml line 19' }],
    },
    {
      name: 'db',
      kind: 'image',
      is_main: false,
      is_public: false,
      build: null,
      depends_on: [],
      volumes: ['data'],
      facts: [{ name: 'image', value: 'postgres:16', origin: 'compose.yaml line 22' }],
    },
    {
      name: 'cache',
      kind: 'image',
      is_main: false,
      is_public: false,
      build: null,
      depends_on: [],
      volumes: [],
      facts: [{ name: 'image', value: 'registry.example.com/harbour/redis-with-modules:7.4-bookworm', origin: 'compose.yaml line 26' }],
    },
  ],
  builds: [
    {
      services: ['web', 'mailer', 'nightly'],
      framework: 'python',
      facts: [
        { name: 'framework', value: 'fastapi', origin: 'main.py' },
        { name: 'tool', value: 'python 3.12.x', origin: '.python-version' },
        { name: 'install_command', value: 'pip install --no-cache-dir -r requirements.txt', origin: 'requirements.txt' },
        { name: 'build_command', value: null, origin: 'default of fastapi' },
      ],
      notes: ['Migrations are not run: add a release command, such as `alembic upgrade head`'],
      dockerfile: { path: 'Dockerfile', text: 'FROM python:3.12-bookworm\nWORKDIR /app\nCOPY . .\nCMD exec uvicorn main:app\n', is_generated: true },
    },
  ],
  facts: [{ name: 'release_command', value: 'alembic upgrade head', origin: 'compose.yaml line 30' }],
  missing_variables: ['STRIPE_KEY', 'SESSION_SECRET'],
}

const managed: PlannedSource['managed'] = [
  {
    name: 'postgres',
    label: 'PostgreSQL',
    image: null,
    variables: ['DATABASE_URL'],
    is_listed: true,
    is_added: true,
    origin: 'homeport.yaml line 2',
  },
  {
    name: 'redis',
    label: 'Redis',
    image: 'redis:7-bookworm',
    variables: ['REDIS_URL', 'REDIS_HOST', 'REDIS_PORT', 'REDIS_PASSWORD'],
    is_listed: true,
    is_added: false,
    origin: 'homeport.yaml line 3',
  },
  {
    name: 's3',
    label: 'S3 storage',
    image: 'versity/versitygw:v1.7.0',
    variables: ['S3_ENDPOINT', 'S3_PUBLIC_ENDPOINT', 'S3_REGION', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL_S3'],
    is_listed: false,
    is_added: true,
    origin: 'project setting',
  },
  {
    name: 'mail',
    label: 'Mail catcher',
    image: null,
    variables: ['SMTP_URL', 'SMTP_HOST', 'SMTP_PORT', 'SMTP_USER', 'SMTP_PASSWORD'],
    is_listed: true,
    is_added: false,
    origin: 'homeport.yaml line 4',
  },
]

/** The shop without images of its own. */
const managedShop: PlannedSource = {
  ...shop,
  file: 'homeport.yaml',
  services: shop.services.filter(({ kind }) => kind !== 'image').map((service) => ({ ...service, depends_on: [] })),
  managed,
  missing_variables: [],
}

const monorepo: PlannedSource = {
  ...empty,
  homeport_yaml: null,
  problems: [
    {
      file: null,
      line: null,
      message: 'This repository contains several apps, and root_directory is not set.',
      hint: 'Set root_directory to the app’s folder, for example apps/api. Create one project per app.',
    },
  ],
  apps: [
    { directory: 'apps/api', name: '@harbour/api', framework: 'fastify' },
    { directory: 'apps/web', name: '@harbour/web', framework: 'nextjs' },
    { directory: 'services/tide-predictions-for-every-port', name: 'tide-predictions-for-every-port', framework: 'go' },
  ],
}

const skipped: Watching['skipped'] = [
  {
    branch: 'main',
    commit_sha: '3f9c2a71d0b84e5f9c2a71d0b84e5f9c2a71d0b8',
    commit_message: 'Correct the opening hours in the handbook',
    changed_files: 3,
    skipped_at: new Date(Date.now() - 240_000).toISOString(),
  },
  {
    branch: 'feature/a-long-name-of-a-branch-about-documentation',
    commit_sha: '9b84e5f9c2a71d03f9c2a71d0b84e5f9c2a71d0b',
    commit_message: 'Write down how the crane is operated when the wind is stronger than usual',
    changed_files: 1,
    skipped_at: new Date(Date.now() - 7_200_000).toISOString(),
  },
]

const withPlan = (plan: PlannedSource) => (page: Page) =>
  Promise.all([
    page.route('**/instance/plans/*', (route) => route.fulfill({ json: { plan } })),
    page.route('**/instance/projects/*/plan', (route) => route.fulfill({ json: { plan } })),
  ])

/** The project gets a repository, although the seeded one has none. */
const withConnectedPlan = (plan: PlannedSource) => async (page: Page) => {
  await withPlan(plan)(page)
  await page.route('**/v1/projects/chart-room', async (route) => {
    const response = await route.fetch()
    const { project } = (await response.json()) as { project: object }
    await route.fulfill({
      response,
      json: { project: { ...project, is_connected: true, repo_url: 'https://git.example.com/harbour/chart-room.git' } },
    })
  })
}

async function showPlan(page: Page): Promise<void> {
  await openNewProject(page)
  await page.getByRole('radio', { name: 'Git URL' }).click()
  await page.getByLabel('Git URL', { exact: true }).last().fill('https://git.example.com/harbour/shop.git')
  await page.getByRole('button', { name: 'Show plan' }).click()
  await page
    .getByRole('table')
    .or(page.getByRole('group', { name: /apps in this repository/i }))
    .first()
    .scrollIntoViewIfNeeded()
}

async function withSkippedPushes(page: Page): Promise<void> {
  await page.route('**/instance/projects/*/watching', async (route) => {
    const response = await route.fetch()
    const { watching } = (await response.json()) as { watching: Watching }
    await route.fulfill({ response, json: { watching: { ...watching, skipped } } })
  })
}

export const planScreens: Screen[] = [
  { name: 'plan-project', path: 'projects/chart-room', before: withConnectedPlan(shop), act: (page) => page.getByRole('table').waitFor() },
  {
    name: 'plan-managed',
    path: 'projects/chart-room',
    before: withConnectedPlan(managedShop),
    act: (page) => page.getByText('A production deployment adds').scrollIntoViewIfNeeded(),
  },
  {
    name: 'plan-project-apps',
    path: 'projects/chart-room',
    before: withConnectedPlan(monorepo),
    async act(page) {
      await page.getByRole('checkbox', { name: /^@harbour\/api/ }).check()
      await page.getByRole('checkbox', { name: /^@harbour\/web/ }).check()
      await page.getByRole('button', { name: 'Save in settings' }).scrollIntoViewIfNeeded()
    },
  },
  { name: 'plan-repository', path: '', before: withPlan(shop), act: showPlan },
  { name: 'plan-apps', path: '', before: withPlan(monorepo), act: showPlan },
  { name: 'previews-skipped', path: 'projects/harbour-shop/previews', before: withSkippedPushes },
  { name: 'deployments-skipped', path: 'projects/harbour-shop/deployments', before: withSkippedPushes },
  {
    name: 'settings-watch-paths',
    path: 'projects/harbour-shop/settings',
    async act(page) {
      await page.getByLabel('Root directory').fill('apps/web')
      await page.getByRole('button', { name: /^Watch apps/ }).waitFor()
    },
  },
]
