import { defineConfig } from 'vitepress'

export default defineConfig({ title: 'VitePress on Homeport', cleanUrls: true })
