import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, expectAccessible, test } from './fixtures.ts'

const page = (text: string) => ({
  'package.json': JSON.stringify({ name: text, scripts: { build: 'mkdir -p dist && cp index.html dist' } }),
  'index.html': text,
})
const files = {
  'package.json': '{"private":true,"workspaces":["apps/*"]}',
  ...Object.fromEntries(Object.entries(page('shop')).map(([name, text]) => [`apps/shop/${name}`, text])),
  ...Object.fromEntries(Object.entries(page('admin')).map(([name, text]) => [`apps/admin/${name}`, text])),
}

test('a plan is reviewed, an app of a monorepo selected and deployed', async ({ dashboard, platform, createRepository }) => {
  const repository = createRepository(files)
  await dashboard.goto(platform.handle.dashboard_url)
  await dashboard.getByRole('radio', { name: 'Git URL' }).click()
  await dashboard.getByRole('textbox', { name: 'Git URL' }).fill(repository.url)
  await dashboard.getByRole('textbox', { name: 'Name' }).fill('Shop')
  await dashboard.getByRole('button', { name: 'Show plan' }).click()
  await expect(dashboard.getByText('This repository contains several apps')).toBeVisible()
  await expectAccessible(dashboard, 'apps of a repository')
  await dashboard.getByRole('button', { name: 'Use this app: apps/shop' }).click()
  await expect(dashboard.getByRole('row', { name: /Build command/ })).toContainText('apps/shop/package.json scripts.build')
  await dashboard.getByRole('button', { name: 'Deploy', exact: true }).click()
  await expect(dashboard).toHaveURL(/\/projects\/shop\/deployments\//)
  const [deployment] = (await platform.api<{ deployments: { id: string }[] }>('GET', '/v1/projects/shop/deployments')).body.deployments
  expect((await platform.waitForEnd('shop', deployment?.id ?? '')).status).toBe('ready')
  expect(await platform.getProject('shop')).toMatchObject({ root_directory: 'apps/shop' })
  expect((await platform.fetchEdge('shop.localhost')).body).toContain('shop')
})

test('a folder is planned, and the plan is written into it after confirmation', async ({ dashboard, platform, createRepository }) => {
  const { folder } = createRepository({ 'index.html': 'hi' })
  await dashboard.goto(platform.handle.dashboard_url)
  await dashboard.getByRole('textbox', { name: 'Folder' }).fill(folder)
  await dashboard.getByRole('button', { name: 'Show plan' }).click()
  await expect(dashboard.getByRole('row', { name: /Output folder/ })).toContainText('index.html')
  await dashboard.getByRole('button', { name: 'Save into the folder…' }).click()
  await dashboard.getByRole('button', { name: 'Write file' }).click()
  await expect(dashboard.getByText('homeport.yaml saved in the folder.')).toBeVisible()
  expect(readFileSync(join(folder, 'homeport.yaml'), 'utf8')).toContain('build: .')
})

test('a project that was never deployed shows what its first deployment will do', async ({ dashboard, platform, createRepository }) => {
  const repository = createRepository(page('first'))
  await platform.createProject({ slug: 'first', name: 'First', repo_url: repository.url })
  await dashboard.goto(`${platform.handle.dashboard_url}projects/first`)
  const plan = dashboard.getByRole('region', { name: 'What Homeport will do' })
  await expect(plan.getByRole('row', { name: /Build command/ })).toContainText('package.json scripts.build')
  await expect(plan.getByRole('region', { name: 'Services and their connections' })).toContainText('Visitors')
})
