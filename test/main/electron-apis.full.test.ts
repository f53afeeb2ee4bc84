import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCallExpression, isNewExpression, isPropertyAccessExpression, isStringLiteral } from 'typescript/unstable/ast/is'
import type { Node } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { expect, test } from 'vitest'
import { root } from '../support/instance-process.ts'

/** Plain data, and types of the web and Node that Electron's declarations repeat. */
const isPlain = /^(?:Rectangle\.|ProcessVersions\.|process\.(?:on|once|off)\b|__type\.)/
const isEvent = /^(?:on|once|off)$/

/** The APIs of Electron and electron-updater that main/ and preload/ use, according to the type checker. */
function usedOfElectron(): string[] {
  const api = new API({ cwd: root })
  const [project] = api.updateSnapshot({ openProjects: [join(root, 'main/tsconfig.json')] }).getProjects()
  const { program, checker } = project!
  const used = new Set<string>()
  for (const name of program.getSourceFileNames()) {
    const path = name.slice(root.length).replaceAll('\\', '/')
    if (!/^\/?(?:main|preload)\/[^/]+\.ts$/.test(path)) continue
    const found: { node: Node; name: Node }[] = []
    const walk = (node: Node): void => {
      if (isPropertyAccessExpression(node)) found.push({ node, name: node.name })
      if (isNewExpression(node)) found.push({ node, name: node.expression })
      node.forEachChild(walk)
    }
    walk(program.getSourceFile(name)!)
    const symbols = checker.getSymbolAtLocation(found.map((one) => one.name))
    for (const [index, symbol] of symbols.entries()) {
      const { node } = found[index]!
      const from = symbol?.declarations.map((one) => /node_modules\/(electron(?:-updater)?)\//.exec(one.path)?.[1]).find(Boolean)
      if (!symbol || from === undefined) {
        // An imported class is declared at its import.
        if (isNewExpression(node) && /^(?:BrowserWindow|Notification|Tray)$/.test(symbol?.name ?? '')) used.add(`new ${symbol!.name}`)
        continue
      }
      if (isNewExpression(node)) continue
      const owner = from === 'electron' ? (symbol.getParent()?.name ?? '') : 'autoUpdater'
      const event = isEvent.test(symbol.name) && isCallExpression(node.parent) ? node.parent.arguments[0] : undefined
      used.add(`${owner}.${event && isStringLiteral(event) && owner !== 'autoUpdater' ? `on('${event.text}')` : symbol.name}`)
    }
  }
  api.close()
  const modules =
    /^(?:App|Clipboard|ContextBridge|CrashReporter|Dialog|Ipc(?:Main|Renderer)|NativeTheme|Power(?:Monitor|SaveBlocker)|Process|SafeStorage|Screen|Shell|WebUtils)\./
  const named = [...used].map((one) =>
    (modules.test(one) ? one[0]!.toLowerCase() + one.slice(1) : one).replace(/^NativeImage\.(?=create)/, 'nativeImage.'),
  )
  return named.filter((one) => !isPlain.test(one) && one !== 'autoUpdater.autoUpdater').sort()
}

test('the table lists exactly the Electron APIs in use, each with an existing test', () => {
  const table = readFileSync(join(root, 'main/electron-apis.md'), 'utf8')
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, api]) => api!.replace(".once('", ".on('")))
  expect(named.sort()).toEqual(usedOfElectron())
  for (const row of rows) expect(row).toMatch(/\| (?:`[\w/-]+\.test\.ts`(?:, )?)+ \|$|the checklist of the README \|$/)
  const tests = new Set([...table.matchAll(/([\w/.-]+\.test\.ts)`/g)].map(([, name]) => name!))
  const isThere = (name: string) => ['test/main', 'test'].some((folder) => existsSync(join(root, folder, name)) || existsSync(join(root, name)))
  expect([...tests].filter((name) => !isThere(name))).toEqual([])
})
