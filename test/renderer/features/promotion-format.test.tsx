import { expect, test } from 'vitest'
import { formatEnvironments, formatSetting, promotionWarnings } from '../../../renderer/features/promotion/promotion-format.ts'
import {
  acquirePromotionLock,
  readStoredPromotions,
  removeStoredPromotion,
  type StoredPromotion,
  storePromotion,
} from '../../../renderer/features/promotion/promotion-storage.ts'
import type { SettingComparison, SettingName } from '../../../server/client/promotion/compare.ts'
import { emptyInventory } from '../../../server/client/promotion/inventory.ts'
import type { SourceProject, TargetProject } from '../../../server/client/promotion/sides.ts'
import { project } from '../../../server/contract/projects.ts'
import { createExample } from '../../support/contract-example.ts'

const shop = createExample(project, { name: 'Shop', memory_limit_mb: 256, always_warm: false, repo_branch: 'main', repo_url: null })
const side = { variables: [], domains: [], inventory: emptyInventory, runtime: null, is_instance: true }
const source: SourceProject = { ...side, project: shop, deployment: null }
const target: TargetProject = { ...side, project: shop, plan: 'pro', is_full: false, follows_pushes: false }
const createStored = (key: string, own: Partial<StoredPromotion> = {}): StoredPromotion => ({
  key,
  from: { id: 'local', slug: key },
  to: { id: 'server', slug: key },
  request: { source: { kind: 'archive', deployment_id: 'dpl_1' }, new_name: null, settings: {}, before: {}, variables: [] },
  done: {},
  steps_done: [],
  is_given_up: false,
  ...own,
})

test.each<[SettingName, SettingComparison['source'], string]>([
  ['always_warm', true, 'on'],
  ['always_warm', false, 'off'],
  ['memory_limit_mb', 512, '512 MB'],
  ['health_timeout_s', 60, '60 s'],
  ['preview_volumes', 'snapshot', 'a snapshot of production'],
  ['preview_volumes', 'empty', 'empty'],
  ['watch_paths', ['src', 'lib'], 'src, lib'],
  ['watch_paths', [], 'all files'],
  ['apps', [], 'none'],
  ['autoscaling', null, 'off'],
  ['autoscaling', { min: 1, max: 3, target_concurrency: 20 }, '1 to 3 replicas, target 20 concurrent requests each'],
  ['cpu_limit', null, 'default'],
  ['node_version', 'auto', 'detected'],
  ['install_command', '', 'none'],
  ['replicas', 2, '2'],
  ['name', 'Shop', 'Shop'],
])('the setting %s with the value %j is shown as %j', (setting, value, shown) => {
  expect(formatSetting({ setting, source: value, target: value, is_default: false, difference: 'differs' }, value)).toBe(shown)
})

test('the environments of a variable', () => {
  expect(formatEnvironments([])).toBe('not set')
  expect(formatEnvironments(['production', 'preview'])).toBe('production; previews')
})

const follows = 'Shop on Server follows the branch main of'
test.each<[string, Partial<SourceProject>, Partial<TargetProject>, string[]]>([
  ['nothing', {}, {}, []],
  ['a full plan, of an existing project', {}, { is_full: true }, []],
  [
    'a full plan',
    {},
    { is_full: true, project: null },
    ['The pro plan on Server allows 50 projects and the limit is reached: creating another may fail.'],
  ],
  ['pushes to a repository', {}, { follows_pushes: true }, [`${follows} a repository: the next push replaces this deployment.`]],
  [
    'pushes to a known repository',
    {},
    { follows_pushes: true, project: { ...shop, repo_url: 'https://git.example.com/shop.git' } },
    [`${follows} https://git.example.com/shop.git: the next push replaces this deployment.`],
  ],
  ['pushes to a new project', {}, { follows_pushes: true, project: null }, []],
  ['always warm, which the plan has', { project: { ...shop, always_warm: true } }, {}, []],
  [
    'always warm, which the plan does not have',
    { project: { ...shop, always_warm: true } },
    { plan: 'starter' },
    ['The starter plan on Server does not include always warm: the app may sleep there.'],
  ],
  ['memory that the plan has', {}, { plan: 'starter' }, []],
  [
    'memory that the plan does not have',
    { project: { ...shop, memory_limit_mb: 257 } },
    { plan: 'starter' },
    ['The starter plan on Server allows at most 256 MB of memory, so the app gets that.'],
  ],
  ['the same runtime', { runtime: 'docker' }, { runtime: 'docker' }, []],
  ['an unknown runtime of the target', { runtime: 'docker' }, {}, []],
  ['an unknown runtime of the source', {}, { runtime: 'docker' }, []],
  [
    'another runtime',
    { runtime: 'process' },
    { runtime: 'docker' },
    ['It runs as a process on Laptop and in Docker on Server: Node and system packages may differ.'],
  ],
])('warnings about %s', (_, from, to, warnings) => {
  expect(promotionWarnings({ ...source, ...from }, { ...target, ...to }, { from: 'Laptop', to: 'Server' })).toEqual(warnings)
})

test('promotions are stored by their key and removed', () => {
  expect(readStoredPromotions()).toEqual([])
  storePromotion(createStored('a'))
  storePromotion(createStored('b'))
  storePromotion(createStored('a', { is_given_up: true }))
  expect(readStoredPromotions()).toEqual([createStored('b'), createStored('a', { is_given_up: true })])
  removeStoredPromotion('b')
  expect(readStoredPromotions().map(({ key }) => key)).toEqual(['a'])
})

test.each(['{}', 'x', '[{"key":1}]', '[{"key":"a","request":{},"done":{}}]', '[{"key":"a","request":{},"steps_done":[]}]'])(
  'the stored text %j has no promotions',
  (text) => {
    localStorage.setItem('homeport.promotions', text)
    expect(readStoredPromotions()).toEqual([])
  },
)

test('over plain HTTP a promotion is not locked', async () => {
  const release = await acquirePromotionLock('a', { ifAvailable: true })
  expect(release).toBeTypeOf('function')
  expect(await acquirePromotionLock('a', { ifAvailable: true })).toBeTypeOf('function')
  release?.()
})
