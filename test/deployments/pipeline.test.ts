import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deploymentStep } from '../../server/contract/deployments.ts'
import { stepLabels } from '../../server/contract/labels.ts'
import { steps } from '../../server/deployments/pipeline.ts'

const names = steps.map(({ name }) => name)

test('the contract, the labels of dashboard and command line, and the documents list the steps of the pipeline in order', () => {
  expect(deploymentStep.shape.name.options).toEqual(names)
  expect(Object.keys(stepLabels)).toEqual(names)
  for (const file of ['server/README.md', 'server/deployments/README.md'])
    expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'), file).toContain(names.map((name) => `\`${name}\``).join(', '))
})
