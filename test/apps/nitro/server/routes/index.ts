export default defineEventHandler(() => 'Hello from Nitro')
