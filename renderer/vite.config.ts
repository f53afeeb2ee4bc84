import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** How the dashboard is built. Served under `/app/`, in the desktop window as well. */
export default defineConfig({
  base: '/app/',
  plugins: [react()],
  build: { outDir: '../out/renderer', emptyOutDir: true, target: 'es2024', modulePreload: { polyfill: false }, assetsInlineLimit: 0, minify: true },
})
