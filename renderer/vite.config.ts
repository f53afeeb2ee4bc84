import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { type Plugin, defineConfig } from 'vite'

/** How the dashboard is built. Served under `/app/`, in the desktop window as well. */
export default defineConfig({
  base: '/app/',
  plugins: [react(), precompressAssets()],
  build: { outDir: '../out/renderer', emptyOutDir: true, target: 'es2024', modulePreload: { polyfill: false }, assetsInlineLimit: 0, minify: true },
})

/** Leaves a smaller twin beside each file that has one, for server/api/public-routes/dashboard.ts to send: compressed once here, never while somebody waits. */
function precompressAssets(): Plugin {
  return {
    name: 'homeport-compressed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(?:js|css|html)$/.test(entry.name)) continue
        const file = join(entry.parentPath, entry.name)
        const bytes = readFileSync(file)
        const variants = {
          // The last two steps of quality take four times as long for six per cent.
          br: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
          gz: gzipSync(bytes, { level: 9 }),
        }
        for (const [extension, variant] of Object.entries(variants))
          if (variant.length < bytes.length * 0.9) writeFileSync(`${file}.${extension}`, variant)
      }
    },
  }
}
