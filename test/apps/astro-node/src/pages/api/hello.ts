export const GET = () => Response.json({ hello: 'from Astro' })
