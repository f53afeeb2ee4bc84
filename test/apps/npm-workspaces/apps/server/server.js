import { message } from '@homeport-test/message'
import Koa from 'koa'

new Koa().use((context) => (context.body = message)).listen(process.env.PORT ?? 3000)
