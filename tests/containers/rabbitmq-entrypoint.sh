#!/bin/sh
# What the image of RabbitMQ does with its variables.
set -eu
cat > /etc/rabbitmq/rabbitmq.conf <<END
default_user = $RABBITMQ_DEFAULT_USER
default_pass = $RABBITMQ_DEFAULT_PASS
default_vhost = $RABBITMQ_DEFAULT_VHOST
END
chown -R rabbitmq:rabbitmq /etc/rabbitmq /var/lib/rabbitmq
exec rabbitmq-server
