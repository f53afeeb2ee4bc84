import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { type Plugin, defineConfig } from 'vite'
import { inlineOperationRoutes } from './vite-plugin-operation-routes.ts'

/** Build configuration of the dashboard, which is served under `/app/`, in the desktop app as well. */
export default defineConfig({
  base: '/app/',
  plugins: [react(), inlineOperationRoutes(), bundleFontLicenses(), precompressAssets()],
  css: { modules: { localsConvention: 'camelCase', generateScopedName: readableName } },
  build: {
    outDir: '../out/renderer',
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    minify: true,
    rolldownOptions: {
      // A warning is lost among the lines of a build: what should be loaded on demand would be in the first bundle unnoticed.
      onLog(level, log, handle) {
        if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(log.message)
        handle(level, log)
      },
    },
  },
})

/** `logs-log-panel_log-line`, or `projects_project-row` for a file named like its folder or `page`. */
function readableName(name: string, file: string): string {
  const folder = basename(dirname(file))
  const own = basename(file, '.module.css')
  return `${own === 'page' || own === folder ? folder : `${folder}-${own}`}_${name}`
}

/** The Open Font License requires its text next to the fonts. */
function bundleFontLicenses(): Plugin {
  return {
    name: 'homeport-font-licenses',
    apply: 'build',
    generateBundle() {
      for (const font of ['inter', 'jetbrains-mono']) {
        const license = join(import.meta.dirname, '../node_modules/@fontsource-variable', font, 'LICENSE')
        this.emitFile({ type: 'asset', fileName: `assets/${font}.LICENSE.txt`, source: readFileSync(license) })
      }
    },
  }
}

/** Writes a Brotli file next to each asset for server/api/public-routes/dashboard.ts, so that nothing is compressed at request time. */
function precompressAssets(): Plugin {
  return {
    name: 'homeport-compressed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(?:js|css|html)$/.test(entry.name)) continue
        const file = join(entry.parentPath, entry.name)
        const bytes = readFileSync(file)
        const params = {
          // Quality 11 takes twice as long for two percent.
          [constants.BROTLI_PARAM_QUALITY]: 10,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        }
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}
