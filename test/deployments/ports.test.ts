import { describe, expect, test } from 'vitest'
import { createServiceLabel } from '../../server/lib/public-ports.ts'
import { useDeploymentContext } from './deployment-suite.ts'
import { portsSuite } from './ports-suite.ts'

test('an address contains the service, its port and the environment, in a label of at most 63 characters', () => {
  expect(createServiceLabel('api', null, 'shop', 'shop')).toBe('api--shop')
  expect(createServiceLabel('my_api', 9090, 'topic--shop', 'shop')).toBe('my-api-9090--topic--shop')
  const name = 'n'.repeat(40)
  const label = createServiceLabel(name, 9090, `${'t'.repeat(40)}--shop`, 'shop')!
  expect(label).toMatch(/^n+-9090-[0-9a-f]{8}--shop$/)
  expect(label.length).toBeLessThanOrEqual(63)
  expect(createServiceLabel(name, 9091, `${'t'.repeat(40)}--shop`, 'shop')).not.toBe(label)
  expect(createServiceLabel('a', 1, 's'.repeat(50), 's'.repeat(50))).toMatch(/^a-1--s+$/)
  expect(createServiceLabel('abcdefgh', 65_535, 's'.repeat(50), 's'.repeat(50))).toMatch(/^ab-[0-9a-f]{8}--s{50}$/)
  expect(createServiceLabel('abcdefgh', 65_535, 's'.repeat(60), 's'.repeat(60))).toBeUndefined()
})

describe('additional ports as processes', () => portsSuite(useDeploymentContext('process')))
