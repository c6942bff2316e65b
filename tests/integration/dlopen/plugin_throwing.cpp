/* A plugin whose function throws. */
#include <stdexcept>
#include <string>

extern "C" __attribute__((visibility("default"))) void plugin_throw(int number);

void plugin_throw(int number) {
    std::string text = "from the plugin " + std::to_string(number);
    throw std::invalid_argument(text);
}
