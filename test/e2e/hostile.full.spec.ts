import type { Page } from '@playwright/test'
import { addInstance, createToken, startTamperingProxy } from './remote-instances.ts'
import { greetingAppFiles, expect, test } from './fixtures.ts'

const hostileText = `<img src=x onerror="window.bitten=1"></script><script>window.bitten=1</script>\u202Egnp.exe\u2066\u0007\u001b[2J${'W'.repeat(5000)}`
const shown = '<img src=x onerror="window.bitten=1">'
/** Text that a user, a repository or another machine may provide. */
const words =
  /^(name|project_name|commit_message|commit_author|branch|repo_branch|build_command|root_directory|message|hint|email|description|label|command|host)$/
/** Enum values of the contract: with others a response would be refused. */
const known = /^(clone|detect|install|build|start|health_check|route|process|docker)$/

// Printed by a build and by an app: tags, a javascript: link, bidirectional controls, and a very long line.
const hostileBuildScript = `
console.log('<img src=x onerror="window.bitten=1"> in the log')
console.log('\\x1b]8;;javascript:window.bitten=1\\x07a link\\x1b]8;;\\x07 beside it')
console.log('\\u202Egnp.exe\\u2066 turned </script><script>window.bitten=1</script>')
console.log('data: x\\n\\nevent: status\\ndata: {"status":"live"}\\n')
console.log('L'.repeat(50000))
`

const injectHostileText = (key: string, text: string) =>
  words.test(key) && !known.test(text) ? hostileText : /(^|_)(url|urls|href|origin)$/.test(key) ? 'javascript:window.bitten=1' : text

/** No script ran, no link is dangerous, and the page is as wide as its window. */
async function expectPageUnharmed(dashboard: Page, where: string): Promise<void> {
  const found = await dashboard.evaluate(() => ({
    bitten: 'bitten' in window,
    handlers: document.querySelectorAll('[onerror], [onload], iframe, object, embed').length,
    scripts: [...document.scripts].filter(({ src }) => !src.startsWith(location.origin)).length,
    links: [...document.querySelectorAll('a[href], [src], form[action]')]
      .map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? one.getAttribute('action') ?? '')
      .filter((address) => !/^(https?:|\/|#)/.test(address)),
    // Names the elements only if the page itself scrolls, because regions that scroll may have wide content.
    wider:
      document.documentElement.scrollWidth === document.documentElement.clientWidth
        ? []
        : [...document.querySelectorAll('body *')]
            .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
            .map((one) => `${one.tagName.toLowerCase()}.${one.className} ${one.textContent.slice(0, 40)}`),
  }))
  expect.soft(found, where).toEqual({ bitten: false, handlers: 0, scripts: 0, links: [], wider: [] })
}

test('content from another instance is shown as text', async ({ dashboard, platform, startSecondPlatform, createRepository }) => {
  const remote = await startSecondPlatform()
  const evil = await startTamperingProxy(remote, injectHostileText)
  const repository = createRepository(greetingAppFiles('evil', hostileBuildScript))
  await remote.createProject({ slug: 'siren', name: 'Siren', repo_url: repository.url })
  const { id } = await remote.waitForEnd('siren', (await remote.deploy('siren')).id)
  await remote.api('POST', '/v1/projects/siren/domains', { hostname: 'siren.example.com' })
  const { token } = await createToken(remote)
  const instancePath = await addInstance(dashboard, platform, { url: evil.url, token, name: 'Rock' })
  const strays: string[] = []
  dashboard.on('framenavigated', (frame) => !frame.url().startsWith(`${platform.handle.api_url}/app/`) && strays.push(frame.url()))
  dashboard.on('dialog', (dialog) => strays.push(`dialog ${dialog.message()}`))
  dashboard.context().on('page', (page) => strays.push(`window ${page.url()}`))

  for (const width of [1280, 390]) {
    await dashboard.setViewportSize({ width, height: 820 })
    for (const path of [
      '',
      'projects/siren',
      'projects/siren/deployments',
      `projects/siren/deployments/${id}`,
      'projects/siren/previews',
      'projects/siren/logs',
      'projects/siren/metrics',
      'projects/siren/cache',
      'projects/siren/environment',
      'projects/siren/database',
      'projects/siren/domains',
      'projects/siren/settings',
      'domains',
      'account',
      'instance',
      'instance/disk',
      'instance/backups',
      'instance/network',
    ]) {
      await dashboard.goto(`${new URL(instancePath, platform.handle.dashboard_url).href}${path}`)
      await expect(dashboard.getByRole('main')).not.toBeEmpty()
      await expect(dashboard.locator('.skeleton, .skeleton-row')).toHaveCount(0)
      await expectPageUnharmed(dashboard, `${path} at ${width}`)
    }
    await dashboard.goto(`${new URL(instancePath, platform.handle.dashboard_url).href}projects/siren/deployments/${id}`)
    const log = dashboard.getByRole('region', { name: /^Build log, / })
    await expect(log).toContainText(`${shown} in the log`)
    await expect(log).toContainText('a link')
    await dashboard.getByRole('button', { name: 'More actions' }).click()
    await dashboard.getByRole('menuitem', { name: 'Delete…' }).click()
    await expect(dashboard.getByRole('dialog')).toContainText('On Rock')
    await expect(dashboard.getByRole('dialog')).toContainText(shown)
    await expectPageUnharmed(dashboard, `the question whether to delete, at ${width}`)
    await dashboard.keyboard.press('Escape')
    await dashboard.goto(`${platform.handle.dashboard_url}instances`)
    await expect(dashboard.getByRole('listitem').filter({ hasText: 'Rock' })).toContainText('Online')
    await expectPageUnharmed(dashboard, `all instances at ${width}`)
  }
  expect(strays).toEqual([])
  await evil.close()
})

test('a response of an invalid shape shows as an error, and the next attempt works', async ({ dashboard, platform }) => {
  await platform.createProject({ slug: 'harbour', name: 'Harbour' })
  // When the stream opens, everything is refetched: the retry would happen by itself, and the button would be gone.
  await dashboard.route('**/instance/events', () => undefined)
  for (const [pattern, body] of [
    ['**/v1/projects?*', { projects: 'none' }],
    ['**/v1/projects?*', { projects: [{ name: { deep: 1 } }], next_cursor: null }],
    ['**/v1/projects?*', null],
    ['**/instance/session', {}],
    ['**/instance/session', { instance: 7, user: null }],
  ] as const) {
    await dashboard.route(pattern, (route) => route.fulfill({ json: body }))
    await dashboard.goto(platform.handle.dashboard_url)
    const again = dashboard.getByRole('button', { name: 'Try again' }).first()
    if (pattern.includes('projects')) await expect(again).toBeVisible()
    await dashboard.unroute(pattern)
    if (pattern.includes('projects')) await again.click()
    else {
      await expect(dashboard.getByRole('main')).not.toBeEmpty()
      await dashboard.reload()
    }
    await expect(dashboard.getByRole('main').getByRole('link', { name: 'Harbour', exact: true })).toBeVisible()
  }
})
