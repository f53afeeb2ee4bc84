import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/instance-process.ts'

test('every function of Electron that is used is in the table, with a test that is there', () => {
  const table = readFileSync(join(root, 'main/electron-apis.md'), 'utf8')
  const sources = ['main', 'preload'].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.ts') ? [readFileSync(join(root, folder, name), 'utf8')] : [])),
  )
  const used = sources.flatMap((source) => {
    const names = /import \{([^}]+)\} from 'electron'/.exec(source)?.[1]?.match(/(?<!type )\b\w+\b/g) ?? []
    const modules = names.filter((name) => name !== 'type')
    return modules.flatMap((name) => [
      ...[...source.matchAll(new RegExp(`\\b${name}\\.(?:on|once)\\('([\\w-]+)'`, 'g'))].map(([, event]) => `\`${name}.on('${event}')\``),
      ...[...source.matchAll(new RegExp(`\\b${name}\\.(?!on\\b|once\\b)(\\w+)`, 'g'))].map(([, member]) => `\`${name}.${member}\``),
      ...(source.includes(`new ${name}(`) ? [`\`new ${name}\``] : []),
    ])
  })
  expect(used.length).toBeGreaterThan(60)
  expect([...new Set(used)].filter((one) => !table.includes(one))).toEqual([])
  const tests = new Set(table.match(/[\w-]+\.test\.ts/g))
  expect([...tests].filter((name) => !existsSync(join(root, 'test/main', name)))).toEqual([])
})
