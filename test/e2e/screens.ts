import { randomBytes } from 'node:crypto'
import type { Page } from '@playwright/test'
import { createZip } from '../support/archives.ts'
import { changeScreens } from './change-screens.ts'
import { activityScreens } from './activity-screens.ts'
import { browserScreens } from './browser-screens.ts'
import { devScreens } from './dev-screens.ts'
import { withUpgrade } from './database-upgrade.ts'
import { pullRequestScreens } from './pull-request-screens.ts'
import { diskScreens } from './disk-screens.ts'
import { domainScreens } from './domain-screens.ts'
import { nodeScreens } from './node-screens.ts'
import { publicNameScreens } from './public-name-screens.ts'
import { forkScreens } from './fork-screens.ts'
import { openNewPromotion, startPromotion, withFakeRemote } from './fake-remote.ts'
import { installFakeBridge } from './fake-bridge.ts'
import { withLongResponses } from './long-responses.ts'
import { logDrainScreens } from './log-drain-screens.ts'
import { notificationScreens } from './notification-screens.ts'
import { planScreens } from './plan-screens.ts'
import type { Screen } from './screen.ts'
import type { SeededIds } from './seeded-platform.ts'
import { promotionScreens } from './promotion-screens.ts'
import { requestLogScreens } from './capture-screens.ts'
import { logScreens } from './log-screens.ts'
import { metricsScreens } from './metrics-screens.ts'
import { serviceScreens } from './service-screens.ts'
import { terminalScreens } from './terminal-screens.ts'
import { volumeScreens } from './volume-screens.ts'
import {
  chooseUpload,
  failResponses,
  waitForDialog,
  holdBackResponses,
  dragFileOver,
  openNewProject,
  pickMenuItem,
  makeRemoteUnreachable,
  makeRemoteRefuseToken,
} from './screen-actions.ts'

/**
 * Every screen, dialog, menu, and empty, loading and error state of the dashboard, once: `gallery.ts` takes screenshots of
 * them and `screens.spec.ts` checks them. A new screen is one entry here.
 */
export const screens = (ids: SeededIds): Screen[] => [
  { name: 'sign-in', path: '', seen_by: 'guest' },
  { name: 'welcome', path: '', seen_by: 'newcomer' },
  {
    name: 'welcome-sample',
    path: '',
    seen_by: 'newcomer',
    async act(page) {
      await page.getByRole('button', { name: 'Try a sample' }).click()
      await page.getByRole('radio', { name: /^Tide clock/ }).check()
    },
  },
  { name: 'projects', path: '' },
  { name: 'projects-none-fits', path: '?q=submarine' },
  { name: 'projects-loading', path: '', is_loading: true, before: (page) => holdBackResponses(page, '**/v1/projects?*') },
  { name: 'projects-failed', path: '', before: (page) => failResponses(page, '**/v1/projects?*') },
  { name: 'overview', path: 'projects/harbour-shop' },
  { name: 'overview-failed', path: 'projects/customs' },
  { name: 'overview-building', path: 'projects/night-ferry' },
  { name: 'overview-stopped', path: 'projects/lighthouse' },
  { name: 'overview-asleep', path: 'projects/fog-horn' },
  { name: 'overview-new', path: 'projects/chart-room' },
  { name: 'no-project', path: 'projects/gone' },
  { name: 'no-page', path: 'nowhere' },
  { name: 'previews', path: 'projects/harbour-shop/previews' },
  { name: 'previews-none', path: 'projects/lighthouse/previews' },
  ...changeScreens,
  ...metricsScreens,
  ...logScreens,
  ...requestLogScreens,
  ...notificationScreens,
  ...logDrainScreens,
  ...browserScreens,
  ...serviceScreens,
  ...devScreens,
  ...planScreens,
  ...pullRequestScreens,
  ...forkScreens,
  ...terminalScreens,
  ...volumeScreens,
  { name: 'previews-no-repository', path: 'projects/chart-room/previews' },
  { name: 'upload-dialog', path: 'projects/harbour-shop?do=upload', act: waitForDialog },
  {
    name: 'upload-refused',
    path: 'projects/harbour-shop',
    alters_page: true,
    act: (page) =>
      chooseUpload(page, [{ name: 'café.zip', mimeType: 'application/zip', buffer: createZip([{ name: '../outside.txt', data: 'x' }]) }]),
  },
  {
    name: 'upload-under-way',
    path: 'projects/harbour-shop',
    alters_page: true,
    async act(page) {
      const line = await page.context().newCDPSession(page)
      await line.send('Network.enable')
      await line.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 250_000 })
      await chooseUpload(page, [
        { name: 'harbour-shop.zip', mimeType: 'application/zip', buffer: Buffer.concat([Buffer.from('PK'), randomBytes(6e6)]) },
      ])
      await page.getByText('left').waitFor()
    },
  },
  { name: 'drop', path: 'projects/harbour-shop', alters_page: true, act: dragFileOver },
  { name: 'promote', path: 'projects/harbour-shop?do=promote', before: withFakeRemote, act: openNewPromotion },
  ...promotionScreens,
  { name: 'project-stop', path: 'projects/harbour-shop?do=stop' },
  {
    name: 'promote-again',
    path: 'projects/harbour-shop?do=promote',
    before: withFakeRemote,
    act: (page) => page.getByText('It gets a new deployment.').waitFor(),
  },
  { name: 'promote-nowhere', path: 'projects/harbour-shop?do=promote', act: (page) => page.getByText('No other instance yet').waitFor() },
  {
    name: 'promote-under-way',
    path: 'projects/harbour-shop?do=promote',
    alters_page: true,
    before: withFakeRemote,
    act: (page) => startPromotion(page, 'waits'),
  },
  {
    name: 'promote-failed',
    path: 'projects/harbour-shop?do=promote',
    // An open page keeps the promotion running, and the next one could not start.
    alters_page: true,
    before: withFakeRemote,
    act: (page) => startPromotion(page, 'gone'),
  },
  {
    name: 'new-project-from-another',
    path: '',
    before: withFakeRemote,
    async act(page) {
      await openNewProject(page)
      await page.getByRole('button', { name: 'From another instance…' }).click()
      await page.getByRole('radio', { name: /Berth/ }).waitFor()
    },
  },
  { name: 'deployments', path: 'projects/harbour-shop/deployments' },
  { name: 'deployments-none-fits', path: 'projects/harbour-shop/deployments?status=canceled' },
  { name: 'deployments-failed', path: 'projects/harbour-shop/deployments', before: (page) => failResponses(page, '**/harbour-shop/deployments?*') },
  { name: 'deployment-ready', path: `projects/harbour-shop/deployments/${ids.serving_id}` },
  { name: 'deployment-failed', path: `projects/harbour-shop/deployments/${ids.failed_id}` },
  { name: 'deployment-running', path: `projects/night-ferry/deployments/${ids.running_id}` },
  { name: 'metrics', path: 'projects/harbour-shop/metrics' },
  { name: 'metrics-week', path: 'projects/harbour-shop/metrics?range=7d' },
  { name: 'metrics-empty', path: 'projects/chart-room/metrics' },
  {
    name: 'cache',
    path: 'projects/harbour-shop/cache?url=/boats',
    act: (page) => page.getByRole('region', { name: 'Cache inspector' }).getByRole('status').filter({ hasText: /\w/ }).waitFor(),
  },
  { name: 'cache-purge', path: 'projects/harbour-shop/cache?purge=all', act: waitForDialog },
  { name: 'environment', path: 'projects/harbour-shop/environment', act: (page) => page.getByRole('button', { name: 'Show values' }).click() },
  { name: 'environment-empty', path: 'projects/chart-room/environment' },
  {
    name: 'environment-import',
    path: 'projects/harbour-shop/environment?do=import',
    act: (page) =>
      page
        .getByLabel('File content')
        .fill('# ours\nTIDE_API=https://tides.example.com\nCURRENCY=NOK\n9LIVES=no\nnot a line\nHOMEPORT_X=1\nPORT_NAME=north\nPORT_NAME=south'),
  },
  {
    name: 'environment-add',
    path: 'projects/harbour-shop/environment?do=add',
    act: (page) => page.getByLabel('Key', { exact: true }).fill('HOMEPORT_X'),
  },
  {
    name: 'environment-replace',
    path: 'projects/harbour-shop/environment',
    act: (page) => pickMenuItem(page, 'Actions for SIGNING_KEY', 'Replace value…'),
  },
  { name: 'database', path: 'projects/harbour-shop/database' },
  { name: 'database-empty', path: 'projects/chart-room/database' },
  {
    name: 'database-import',
    path: 'projects/harbour-shop/database?do=import',
    async act(page) {
      await page
        .locator('.dialog input[type=file]')
        .setInputFiles({ name: 'old-shop.dump', mimeType: 'application/octet-stream', buffer: Buffer.from('PGDMP') })
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'database-upgrade', path: 'projects/harbour-shop/database', before: (page) => withUpgrade(page, { version: 15, upgrade_to: 18 }) },
  {
    name: 'database-upgrade-dialog',
    path: 'projects/harbour-shop/database',
    before: (page) => withUpgrade(page, { version: 15, upgrade_to: 18 }),
    act: (page) => page.getByRole('button', { name: 'Upgrade database…' }).click(),
  },
  { name: 'database-upgraded', path: 'projects/harbour-shop/database', before: (page) => withUpgrade(page, { version: 18, previous_version: 15 }) },
  {
    name: 'database-drop',
    path: 'projects/harbour-shop/database?do=drop',
    act: (page) => page.getByLabel('Type harbour-shop to confirm').fill('harbour'),
  },
  ...domainScreens,
  ...nodeScreens,
  ...publicNameScreens,
  { name: 'settings', path: 'projects/harbour-shop/settings' },
  {
    name: 'delete',
    path: 'projects/harbour-shop/settings',
    async act(page) {
      await page.getByRole('button', { name: 'Delete project…' }).click()
      await waitForDialog(page)
    },
  },
  {
    name: 'deploy-menu',
    path: 'projects/harbour-shop',
    act: (page) => page.getByRole('button', { name: 'More actions' }).click(),
  },
  { name: 'instance', path: 'instance' },
  { name: 'network', path: 'instance/network' },
  {
    name: 'password',
    path: 'instance/network',
    async act(page) {
      await page.getByRole('button', { name: 'Set password…' }).click()
      await waitForDialog(page)
    },
  },
  ...diskScreens,
  { name: 'backups', path: 'instance/backups' },
  { name: 'desktop', path: 'instance/desktop', alters_page: true, before: installFakeBridge },
  { name: 'desktop-browser', path: 'instance/desktop' },
  { name: 'account', path: 'account' },
  { name: 'token-dialog', path: 'account?do=token', act: waitForDialog },
  {
    name: 'token-made',
    path: 'account?do=token',
    async act(page) {
      await page.getByLabel('Name', { exact: true }).fill('Deploys from CI')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByText('not shown again').waitFor()
    },
  },
  {
    name: 'token-revoke',
    path: 'account',
    async act(page) {
      await page.getByRole('button', { name: 'Revoke Deploys from CI…' }).first().click()
      await waitForDialog(page)
    },
  },
  { name: 'help', path: 'help' },
  { name: 'help-found', path: 'help?q=disk+full' },
  { name: 'help-found-nothing', path: 'help?q=zeppelin' },
  { name: 'help-topic', path: 'help/databases' },
  { name: 'help-keyboard', path: 'help/keyboard' },
  {
    name: 'first-steps',
    path: 'help',
    async act(page) {
      await page.getByRole('button', { name: 'First steps' }).click()
      await page.getByRole('region', { name: 'First steps' }).waitFor()
      // The list above would be partly below the header.
      await page.evaluate(() => window.scrollTo(0, 0))
    },
  },
  {
    name: 'keyboard-sheet',
    path: '',
    async act(page) {
      await page.keyboard.press('?')
      await waitForDialog(page)
    },
  },
  { name: 'instances', path: 'instances', before: withFakeRemote },
  { name: 'instances-add', path: 'instances?do=add', before: withFakeRemote, act: waitForDialog },
  {
    name: 'instances-edit',
    path: 'instances',
    before: withFakeRemote,
    act: (page) => pickMenuItem(page, 'Actions for Berth', 'Name and color…'),
  },
  {
    name: 'instances-remove',
    path: 'instances',
    before: withFakeRemote,
    act: (page) => pickMenuItem(page, 'Actions for Berth', 'Remove…'),
  },
  { name: 'instance-elsewhere', path: 'on/rem_berth/', before: withFakeRemote },
  { name: 'overview-elsewhere', path: 'on/rem_berth/projects/harbour-shop', before: withFakeRemote },
  {
    name: 'delete-elsewhere',
    path: 'on/rem_berth/projects/harbour-shop/settings',
    before: withFakeRemote,
    async act(page) {
      await page.getByRole('button', { name: 'Delete project…' }).click()
      await waitForDialog(page)
    },
  },
  {
    name: 'instance-silent',
    path: 'on/rem_berth/',
    async before(page) {
      await withFakeRemote(page)
      await makeRemoteUnreachable(page)
    },
    act: (page) => page.getByText('Berth is not responding.').waitFor(),
  },
  {
    name: 'token-needed',
    path: 'on/rem_berth/',
    alters_page: true,
    async before(page) {
      await withFakeRemote(page)
      await makeRemoteRefuseToken(page)
    },
  },
  { name: 'no-instance', path: 'on/rem_gone/' },
  { name: 'new-project', path: '', act: openNewProject },
  {
    name: 'refused',
    path: '',
    async act(page) {
      await openNewProject(page)
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('radio', { name: 'Git URL' }).click()
      await dialog.getByLabel('Git URL', { exact: true }).last().fill('ftp://example.com/boats.git')
      await dialog.getByLabel('Slug').fill('harbour-shop')
      await dialog.getByRole('button', { name: 'Deploy' }).click()
      await dialog.getByRole('alert').waitFor()
    },
  },
  {
    name: 'palette',
    path: 'projects/harbour-shop',
    async act(page) {
      await page.keyboard.press('ControlOrMeta+k')
      await waitForDialog(page)
    },
  },
  {
    name: 'menu',
    path: 'projects/harbour-shop',
    async act(page) {
      const drawer = page.getByRole('button', { name: 'Menu' })
      if (await drawer.isVisible()) await drawer.click()
      else await page.getByRole('button', { name: 'More actions' }).click()
    },
  },
  {
    name: 'offline',
    path: 'projects/harbour-shop',
    alters_page: true,
    // An open stream would not notice it.
    before: (page) => page.route('**/instance/events', (route) => route.abort()),
    async act(page) {
      await page.context().setOffline(true)
      await page.getByText('Connection to Homeport lost.').waitFor()
    },
  },
  ...activityScreens,
  ...longContentScreens(ids),
  ...loadingScreens,
]

/** Everything that can be long is long, and every list is full. */
const longContentScreens = (ids: SeededIds): Screen[] =>
  [
    ['projects', ''],
    ['overview', 'projects/harbour-shop'],
    ['deployments', 'projects/harbour-shop/deployments'],
    ['deployment', `projects/harbour-shop/deployments/${ids.failed_id}`],
    ['previews', 'projects/harbour-shop/previews'],
    ['environment', 'projects/harbour-shop/environment'],
    ['domains', 'projects/harbour-shop/domains'],
    ['database', 'projects/harbour-shop/database'],
    ['settings', 'projects/harbour-shop/settings'],
    ['account', 'account'],
    ['instance', 'instance'],
    ['backups', 'instance/backups'],
  ].map(([name, path = '']) => ({ name: `long-${name}`, path, before: withLongResponses }))

/** The placeholders while responses are pending. */
const loadingScreens: Screen[] = [
  ['overview', 'projects/harbour-shop', '**/harbour-shop/deployments?*'],
  ['deployments', 'projects/harbour-shop/deployments', '**/harbour-shop/deployments?*'],
  ['environment', 'projects/harbour-shop/environment', '**/env-vars'],
  ['domains', 'projects/harbour-shop/domains', '**/v1/projects/harbour-shop/domains'],
  ['metrics', 'projects/harbour-shop/metrics', '**/instance/projects/harbour-shop/metrics*'],
  ['account', 'account', '**/tokens?*'],
].map(([name, path = '', pattern = '']) => ({
  name: `${name}-loading`,
  path,
  is_loading: true,
  before: (page: Page) => holdBackResponses(page, pattern),
}))
