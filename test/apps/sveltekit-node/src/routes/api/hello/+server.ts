import { json } from '@sveltejs/kit'

export const GET = () => json({ hello: 'from SvelteKit' })
