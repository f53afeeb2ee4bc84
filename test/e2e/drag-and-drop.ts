import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { createZip } from '../support/archives.ts'
import { test as base } from './fixtures.ts'

export const test = base.extend<{ createTestFile: (name: string, content?: Buffer) => string }>({
  /** Files on disk as a user has them; without content a folder. */
  // oxlint-disable-next-line no-empty-pattern -- Playwright requires the braces
  async createTestFile({}, use) {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-shelf-'))
    await use((name, content) => {
      const path = join(folder, name)
      if (content) writeFileSync(path, content)
      else mkdirSync(path)
      return path
    })
    rmSync(folder, { recursive: true, force: true })
  },
})
export const createAppZip = (files: Record<string, string>) => createZip(Object.entries(files).map(([name, data]) => ({ name: `app/${name}`, data })))

/** Drags files from outside of the browser over a part of the page, and optionally drops them. */
export async function dragFiles(page: Page, over: Locator, files: string[], { lets_go: is_dropped = true } = {}): Promise<void> {
  await over.waitFor()
  const box = await over.boundingBox()
  if (!box) throw new Error('there is no such place on the page')
  const cdp = await page.context().newCDPSession(page)
  const at = { x: box.x + Math.min(box.width / 2, 300), y: box.y + Math.min(box.height / 2, 100), data: { items: [], files, dragOperationsMask: 1 } }
  for (const type of ['dragEnter', 'dragOver', ...(is_dropped ? (['drop'] as const) : [])] as const)
    await cdp.send('Input.dispatchDragEvent', { type, ...at })
  await cdp.detach()
}
