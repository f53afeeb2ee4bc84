/**
 * `npm run icons`: draws every icon of the desktop from resources/icon.svg, resources/icon-small.svg (for 32 pixels and less) and
 * resources/tray/tray.svg. Chromium renders them; the containers of macOS and Windows only hold PNG files. The results are committed.
 */
import { chromium } from '@playwright/test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/instance-process.ts'
import { chromiumPath, requires } from '../support/requirements.ts'
import { icnsTypes, writeIcns, writeIco } from './icon-files.ts'

const resources = join(root, 'resources')
const { ok, reason } = requires('chromium')
if (!ok) throw new Error(reason)
const browser = await chromium.launch({ ...(chromiumPath ? { executablePath: chromiumPath } : {}), args: ['--no-sandbox'] })
const page = await browser.newPage()

/** A drawing at a size, with an empty margin around it (as a fraction of the size). */
async function drawSvg(drawing: string, size: number, margin = 0): Promise<Buffer> {
  const svg = readFileSync(join(resources, drawing), 'base64')
  const png = await page.evaluate(
    async ({ svg, size, margin }) => {
      const image = new Image()
      image.src = `data:image/svg+xml;base64,${svg}`
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = canvas.height = size
      const edge = Math.round(size * margin)
      canvas.getContext('2d')?.drawImage(image, edge, edge, size - 2 * edge, size - 2 * edge)
      return canvas.toDataURL('image/png').split(',')[1] ?? ''
    },
    { svg, size, margin },
  )
  return Buffer.from(png, 'base64')
}

const drawIcon = (size: number, margin = 0) => drawSvg(size <= 32 ? 'icon-small.svg' : 'icon.svg', size, margin)
const drawAll = (sizes: number[], marginOf: (size: number) => number = () => 0) =>
  Promise.all(sizes.map(async (size) => ({ size, png: await drawIcon(size, marginOf(size)) })))
const write = (path: string, bytes: Buffer) => writeFileSync(join(resources, path), bytes)

for (const folder of ['package/icons', 'tray']) mkdirSync(join(resources, folder), { recursive: true })

// Linux: one file for each size; its window and its tray are colored.
for (const { size, png } of await drawAll([16, 24, 32, 48, 64, 128, 256, 512, 1024])) write(`package/icons/${size}x${size}.png`, png)
write('icon.png', await drawIcon(512))
write('tray/tray.png', await drawIcon(32))
write('tray/tray@2x.png', await drawIcon(64))

write('package/icon.ico', writeIco(await drawAll([16, 20, 24, 32, 40, 48, 64, 128, 256])))
write('tray/tray.ico', writeIco(await drawAll([16, 20, 24, 32, 48])))

// macOS leaves a tenth free around an app icon, less for small ones; it colors a black tray icon by itself.
const sizes = [...new Set(Object.values(icnsTypes))]
write('package/icon.icns', writeIcns(await drawAll(sizes, (size) => (size <= 32 ? 1 / 16 : 0.098))))
write('tray/trayTemplate.png', await drawSvg('tray/tray.svg', 16))
write('tray/trayTemplate@2x.png', await drawSvg('tray/tray.svg', 32))

await browser.close()
