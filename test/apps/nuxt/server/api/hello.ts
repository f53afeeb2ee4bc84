export default defineEventHandler(() => ({ hello: 'from Nuxt' }))
